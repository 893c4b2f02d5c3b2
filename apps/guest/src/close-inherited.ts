import { closeSync, readdirSync, readFileSync } from 'node:fs';

const CLOSE_ON_EXEC = 0o2000000;
const LAST_STANDARD = 2;

/**
 * Closes what whoever started the host left open: a pipe of theirs handed on to an agent would be the agent's to read,
 * and would never end. Node's own descriptors close on exec and are left alone.
 */
export const closeInherited = (): void => {
  for (const fd of readdirSync('/proc/self/fd').map(Number)) {
    if (fd <= LAST_STANDARD) continue;
    try {
      const flags = /^flags:\s+([0-7]+)/m.exec(readFileSync(`/proc/self/fdinfo/${fd}`, 'utf8'))?.[1];
      if (flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0) closeSync(fd);
    } catch {
      // The one the listing itself was read through is gone again.
    }
  }
};
