import { readFileSync } from 'node:fs';
import type { EmbeddedLog } from '../supervision/embedded-log.js';
import { runCommand } from '../supervision/run-command.js';
import type { RunAs } from '../supervision/die-with-parent.js';

const OWN_USER = 'berth-postgres';

/**
 * The user that PostgreSQL, which refuses to run as root, runs as; undefined when this process is not root (PostgreSQL
 * then runs as the same user). An existing `berth-postgres` or `postgres`; otherwise a system user `berth-postgres` is
 * added.
 */
export async function postgresUser(log: EmbeddedLog): Promise<RunAs | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const known = lookUp(OWN_USER) ?? lookUp('postgres');
  if (known) return known;
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
