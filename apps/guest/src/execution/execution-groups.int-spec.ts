import { mkdirSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { join } from 'node:path';
import type { RunAsUser } from '@berth/guest-protocol';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentUser, CommandGuest, runs } from '../__fixtures__/executions.fixture.js';
import { ExecutionGroups } from './execution-groups.js';

/** A process that has lost every trace of its execution, one that ignores TERM, and one that has not. */
const FAMILY = `
(env -i PATH="$PATH" setsid sh -c 'echo $$ > hidden; exec sleep 1000' &)
sh -c "trap '' TERM; echo \\$\\$ > stubborn; while :; do sleep 0.05; done" &
echo $$ > shell
until [ -s hidden ] && [ -s stubborn ]; do sleep 0.01; done
echo > begun; wait; sleep 1000
`;

/** A process joins the group of the file, and becomes the agent's user, as the launchers of containers do. */
const launcherOf = (file: string): NonNullable<RunAsUser['launcher']> => [
  '/bin/sh',
  ...['-c', 'file=$1; shift; echo 0 > "$file" && exec "$@"', '-', file],
  ...['setpriv', '--reuid=61234', '--regid=61234', '--clear-groups', '--'],
];

const MOUNTS = [
  { version: 1, mount: /^\S+ (\S+) cgroup \S*\bpids\b/m },
  { version: 2, mount: /^\S+ (\S+) cgroup2 /m },
] as const;

/** Where the tests may make groups: without root nowhere, and seldom in another container. */
const hierarchies = MOUNTS.flatMap(({ version, mount }) => {
  const path = mount.exec(readFileSync('/proc/mounts', 'utf8'))?.[1];
  if (agentUser === null || path === undefined) return [];
  const folder = join(path, `berth-execution-groups-${process.pid}`);
  try {
    mkdirSync(folder);
    rmdirSync(folder);
    return [{ version, folder }];
  } catch {
    return [];
  }
});

describe.each(hierarchies)('an execution in a control group of version $version', ({ version, folder }) => {
  const file = version === 1 ? 'tasks' : 'cgroup.procs';
  let guest: CommandGuest;

  beforeEach(async () => {
    mkdirSync(folder);
    guest = await CommandGuest.open();
  });

  afterEach(async () => {
    await guest.destroy();
    await eventually(() => {
      for (const entry of readdirSync(folder, { withFileTypes: true }))
        if (entry.isDirectory()) rmdirSync(join(folder, entry.name));
      rmdirSync(folder);
    });
  });

  it('loses every process when it is cancelled, and no other', async () => {
    await guest.shutDown();
    await guest.start({}, 'current', {
      runAs: {
        uid: 61_234,
        gid: 61_234,
        launcher: launcherOf(join(folder, file)),
        executionGroups: { version, folder },
      },
    });
    await guest.run('setsid sleep 1000 > /dev/null 2>&1 & echo $! > bystander');
    const executionId = await guest.begin(FAMILY);
    const pids = ['hidden', 'stubborn', 'shell'].map((name) => Number(guest.read(name)));
    expect(pids.map(runs)).toEqual([true, true, true]);
    expect((await guest.cancel(executionId)).body['status']).toBe('cancelled');
    expect(pids.map(runs)).toEqual([false, false, false]);
    const bystander = Number(guest.read('bystander'));
    expect(runs(bystander)).toBe(true);
    process.kill(bystander, 'SIGKILL');
  });
});

it('an execution has no control group where none can be made', () => {
  const executionGroups = { version: 2, folder: '/nonexistent' } as const;
  expect(new ExecutionGroups().create({ uid: 1, gid: 1, executionGroups }, 'exe_1')).toBeUndefined();
  expect(new ExecutionGroups().create({ uid: 1, gid: 1 }, 'exe_1')).toBeUndefined();
  expect(new ExecutionGroups().create(null, 'exe_1')).toBeUndefined();
});
