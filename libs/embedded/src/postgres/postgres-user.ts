import { readFileSync } from 'node:fs';
import type { EmbeddedLog } from '../supervision/embedded-log.js';
import { runCommand } from '../supervision/run-command.js';
import type { RunAs } from '../supervision/die-with-parent.js';

const OWN_USER = 'berth-postgres';

/**
 * The user to run PostgreSQL as, because it refuses to run as root; undefined if this process is not root (PostgreSQL
 * then runs as the same user). Uses an existing `berth-postgres` or `postgres` user, otherwise adds the system user
 * `berth-postgres`.
 */
export async function postgresUser(log: EmbeddedLog): Promise<RunAs | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const existing = lookUp(OWN_USER) ?? lookUp('postgres');
  if (existing) return existing;
  log.info({ user: OWN_USER }, 'PostgreSQL does not run as root: adding a system user for it');
  const attempts: [string, string[]][] = [
    ['useradd', ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin', OWN_USER]],
    // busybox
    ['adduser', ['-S', '-D', '-H', '-s', '/sbin/nologin', OWN_USER]],
  ];
  for (const [command, args] of attempts) {
    await runCommand(command, args);
    const made = lookUp(OWN_USER);
    if (made) return made;
  }
  throw new Error(
    'PostgreSQL does not run as root and no user could be added for it. Add one with ' +
      `"useradd --system ${OWN_USER}", run Berth as an ordinary user, or set DATABASE_URL.`,
  );
}

function lookUp(name: string): RunAs | undefined {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  const [, , uid, gid] = line?.split(':') ?? [];
  return uid === undefined || gid === undefined ? undefined : { uid: Number(uid), gid: Number(gid) };
}
