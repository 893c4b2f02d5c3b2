import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { GUEST_ROUTES } from '@berth/guest-protocol';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { agentUser, CommandGuest, runs } from '../__fixtures__/executions.fixture.js';

/** Processes that try to escape detection; each writes its process id to a file in the volume. */
const FAMILY = `
sh -c 'echo $$ > child; exec sleep 1000' &
setsid sh -c 'echo $$ > session; exec sleep 1000' &
setsid sh -c '(setsid sh -c "echo \\$\\$ > orphan; exec sleep 1000" &) ; exit' &
env -i PATH="$PATH" setsid sh -c 'echo $$ > nameless; exec sleep 1000' &
env -i PATH="$PATH" sh -c '(sh -c "echo \\$\\$ > parentless; exec sleep 1000" &)'
sh -c "trap '' TERM; echo \\$\\$ > stubborn; while :; do sleep 0.1; done" &
until [ -s child ] && [ -s session ] && [ -s orphan ] && [ -s nameless ] && [ -s parentless ] && [ -s stubborn ]; do sleep 0.01; done
echo partial; echo partly >&2; echo $$ > begun
`;
const MEMBERS = ['child', 'session', 'orphan', 'nameless', 'parentless', 'stubborn', 'begun'];

describe('an execution that is ended', () => {
  let guest: CommandGuest;

  beforeEach(async () => {
    guest = await CommandGuest.open();
  });

  afterEach(() => guest.destroy());

  const pids = (): number[] => MEMBERS.map((name) => Number(guest.read(name)));
  const partial = { exitCode: -1, stdout: 'partial\n', stderr: 'partly\n' };

  it('by cancelling ends all its processes and keeps its output so far', async () => {
    const executionId = await guest.begin(`${FAMILY} wait`);
    const members = pids();
    expect(members.filter(runs)).toEqual(members);
    const waiting = guest.find(executionId, 20_000);
    const { body } = await guest.cancel(executionId);
    expect(body).toMatchObject({ status: 'cancelled', ...partial });
    expect(members.filter(runs)).toEqual([]);
    expect((await waiting).body).toEqual(body);
    expect((await guest.cancel(executionId)).body).toEqual(body);
  });

  it('by its timeout ends all its processes and keeps its output so far', async () => {
    const report = await guest.run(`${FAMILY} wait`, { timeoutMs: 5_000 });
    expect(report).toMatchObject({ status: 'timed_out', ...partial });
    expect(pids().filter(runs)).toEqual([]);
  });

  it('by its timeout ends at once when its processes obey TERM, without the grace period of two seconds', async () => {
    const began = performance.now();
    const stubborn = `trap '' TERM; echo b; while :; do sleep 0.05; done`;
    const killed = guest.run(stubborn, { timeoutMs: 300 });
    const ended = guest.run('echo a; sleep 1000', { timeoutMs: 300 });
    expect(await Promise.race([killed, ended])).toMatchObject({
      status: 'timed_out',
      exitCode: -1,
      stdout: 'a\n',
    });
    expect(performance.now() - began).toBeGreaterThanOrEqual(299);
    await killed;
  });

  it('ends a process that has lost both its mark and its parent but obeys TERM', async () => {
    const command = `env -i PATH="$PATH" sh -c '(sh -c "echo \\$\\$ > lost; exec sleep 1000" &)'; sleep 1000`;
    const executionId = await guest.begin(command, 'lost');
    const lost = await eventually(() => Number(guest.read('lost')) || false);
    expect((await guest.cancel(executionId)).body['status']).toBe('cancelled');
    expect(runs(Number(lost))).toBe(false);
  });

  it('has two seconds to obey TERM', async () => {
    const clean = `trap 'echo bye; sleep 0.5; echo clean > cleaned; exit 0' TERM; echo > begun; while :; do sleep 0.05; done`;
    const { body } = await guest.cancel(await guest.begin(clean));
    expect(body).toMatchObject({ status: 'cancelled', exitCode: -1, stdout: 'bye\n' });
    expect(guest.read('cleaned')).toBe('clean\n');
    const began = performance.now();
    const stubborn = `trap '' TERM; echo > stubborn; while :; do sleep 0.05; done`;
    expect((await guest.cancel(await guest.begin(stubborn, 'stubborn'))).body['status']).toBe('cancelled');
    expect(performance.now() - began).toBeGreaterThanOrEqual(1_990);
  });

  it('leaves alone the background processes of other executions, and other processes of the agent', async () => {
    await guest.run('setsid sleep 1000 > /dev/null 2>&1 & echo $! > bystander');
    await guest.cancel(await guest.begin('echo > begun; sleep 1000'));
    const bystander = Number(guest.read('bystander'));
    expect(runs(bystander)).toBe(true);
    process.kill(bystander, 'SIGKILL');
  });

  it('after its own end is unchanged', async () => {
    const report = await guest.run('echo hi; exit 3');
    expect((await guest.cancel(report.executionId)).body).toEqual(report);
    await guest.ask(GUEST_ROUTES.failExecutions, {});
    expect((await guest.find(report.executionId)).body).toEqual(report);
  });

  it('while it ends by itself has one outcome, and every caller gets the same', async () => {
    for (let round = 0; round < 20; round += 1) {
      const { executionId } = await guest.run(`sleep 0.0${round % 4}`, { waitMs: 0 });
      const [cancelled, waited] = await Promise.all([
        guest.cancel(executionId),
        guest.find(executionId, 20_000),
      ]);
      expect(waited.body).toEqual(cancelled.body);
      expect([
        ['completed', 0],
        ['cancelled', -1],
      ]).toContainEqual([cancelled.body['status'], cancelled.body['exitCode']]);
    }
  });

  it('with a timeout beyond the limit of timers runs to its own end', async () => {
    expect(await guest.run('sleep 0.1; echo done', { timeoutMs: 1e303 })).toMatchObject({
      status: 'completed',
      stdout: 'done\n',
    });
  });

  it('before the agent is put to sleep fails, and nothing new starts until the next health request', async () => {
    const one = await guest.begin(`${FAMILY} wait`);
    const other = await guest.run('sleep 1000', { waitMs: 0 });
    const began = performance.now();
    const failing = guest.ask(GUEST_ROUTES.failExecutions, {});
    await eventually(async () => (await guest.execute('touch started')).body.error !== undefined);
    await failing;
    expect(performance.now() - began).toBeLessThan(3_500);
    expect(pids().filter(runs)).toEqual([]);
    expect((await guest.find(one)).body).toMatchObject({ status: 'failed', ...partial });
    expect((await guest.find(other.executionId)).body).toMatchObject({ status: 'failed', exitCode: -1 });
    const refused = await guest.execute('touch refused');
    expect(refused.body.error).toMatchObject({ kind: 'unavailable', code: 'guest_command_unavailable' });
    expect(existsSync(join(guest.volume, 'refused'))).toBe(false);
    await guest.ask(GUEST_ROUTES.health);
    expect((await guest.run('echo again')).stdout).toBe('again\n');
  });

  it('by the end of the guest has failed, with its output so far', async () => {
    const executionId = await guest.begin(`${FAMILY} wait`);
    const members = pids();
    await guest.shutDown();
    expect(members.filter(runs)).toEqual([]);
    await guest.start();
    expect((await guest.find(executionId)).body).toMatchObject({ status: 'failed', ...partial });
  });
});

describe('an execution in the runtime of the compose file', () => {
  let guest: CommandGuest;

  beforeEach(async () => {
    // Without root the guest and its agent have the same user, and no capability counts.
    guest = await CommandGuest.open('current', agentUser === null ? [] : withComposeCapabilities());
  });

  afterEach(() => guest.destroy());

  it('by its timeout ends all its processes', async () => {
    const report = await guest.run(`${FAMILY} wait`, { timeoutMs: 5_000 });
    expect(report).toMatchObject({ status: 'timed_out', exitCode: -1, stdout: 'partial\n' });
    expect(MEMBERS.map((name) => Number(guest.read(name))).filter(runs)).toEqual([]);
  });
});

/** Gives up what the compose file does not give to the container of the runtime. */
const withComposeCapabilities = (): readonly string[] => {
  const file = readFileSync(join(import.meta.dirname, '../../../../docker-compose.yml'), 'utf8');
  const names = /^ +cap_add: \[(.+)\]$/m.exec(file)?.[1]?.split(', ') ?? [];
  const kept = names.map((name) => `+${name.toLowerCase()}`);
  return ['setpriv', `--bounding-set=${['-all', ...kept].join(',')}`, '--no-new-privs', '--'];
};
