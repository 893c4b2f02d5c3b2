import { closeSync, readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;
const LAST_STANDARD = 2;

/**
 * Closes descriptors that the host's parent process left open: an agent that inherits such a pipe could read it, and
 * the pipe would never end. Node's own descriptors close on exec and are left alone.
 */
export const closeInherited = (): void => {
  for (const fd of readdirSync('/proc/self/fd').map(Number)) {
    if (fd <= LAST_STANDARD) continue;
    try {
      const flags = /^flags:\s+([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
      if (flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0) closeSync(fd);
    } catch {
      // The descriptor of the listing itself is already closed.
    }
  }
};
