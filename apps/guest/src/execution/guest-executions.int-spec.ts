import { createHash } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { CUT_MARK, GUEST_ROUTES, KEPT_CHARACTERS } from '@berth/guest-protocol';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { agentUser, CommandGuest } from '../__fixtures__/executions.fixture.js';

describe('a command', () => {
  let guest: CommandGuest;

  beforeAll(async () => {
    guest = await CommandGuest.open();
  });

  afterAll(() => guest.destroy());

  it('returns its output, one text per stream, and its exit code', async () => {
    const report = await guest.run('echo out; echo err >&2; exit 7');
    expect(report).toMatchObject({ status: 'completed', exitCode: 7, stdout: 'out\n', stderr: 'err\n' });
    expect(Date.parse(report.endedAt ?? '')).toBeGreaterThanOrEqual(Date.parse(report.startedAt));
  });

  it('that is precluded never starts, even after a restart of the guest; one that has started continues', async () => {
    const own = await CommandGuest.open();
    try {
      const preclude = async (executionId: string) =>
        (await own.ask(GUEST_ROUTES.precludeExecution, { executionId })).body;
      expect(await preclude('exe_late')).toEqual({ started: false });
      expect(await preclude('exe_late')).toEqual({ started: false });
      const late = async () => own.run('touch late', { executionId: 'exe_late' });
      expect(await late()).toMatchObject({ status: 'failed', exitCode: -1, stdout: '' });
      await own.kill();
      await own.start();
      expect(await preclude('exe_late')).toEqual({ started: false });
      expect(await late()).toMatchObject({ status: 'failed', exitCode: -1, stdout: '' });
      expect(existsSync(join(own.volume, 'late'))).toBe(false);
      const running = await own.run('sleep 1; echo on', { executionId: 'exe_on', waitMs: 0 });
      expect(running.status).toBe('running');
      expect(await preclude('exe_on')).toEqual({ started: true });
      expect(await own.run('', { executionId: 'exe_on' })).toMatchObject({ stdout: 'on\n' });
      expect(await preclude('exe_on')).toEqual({ started: true });
    } finally {
      await own.destroy();
    }
  });

  it('that is precluded while its start is prepared either starts or never does, as the response states', async () => {
    for (let round = 0; round < 10; round++) {
      const executionId = `exe_round${String(round)}`;
      const report = guest.run('echo ran', { executionId, cwd: guest.volume });
      const { started } = (await guest.ask(GUEST_ROUTES.precludeExecution, { executionId })).body;
      expect(await report).toMatchObject(
        started === true ? { status: 'completed', stdout: 'ran\n' } : { status: 'failed', stdout: '' },
      );
    }
  });

  it("runs as the agent's own user, without root's groups, in its volume, with empty input", async () => {
    const { stdout } = await guest.run('echo "$(id -u) $(id -G) $PWD"; cat; readlink /proc/self/fd/0');
    const user = agentUser === null ? `${process.getuid?.()} ` : '61234 61234 ';
    expect(stdout?.startsWith(user)).toBe(true);
    expect(stdout?.endsWith(`${guest.volume}\n/dev/null\n`)).toBe(true);
  });

  it("has the program's environment plus its own, and cannot replace Berth's variables", async () => {
    const env = { MINE: 'a\n"b" ü', GREETING: 'bye', BERTH_AGENT_ID: 'forged' };
    const { stdout } = await guest.run('printf "%s|%s|%s|%s" "$MINE" "$GREETING" "$BERTH_AGENT_ID" "$HOME"', {
      env,
    });
    expect(stdout).toBe(`a\n"b" ü|bye|agt_1|${guest.volume}`);
    expect((await guest.run('echo "$MINE$GREETING"')).stdout).toBe('hello\n');
  });

  it.each([
    ['kill -9 $$', 137],
    ['kill -TERM $$', 143],
    ['no-such-command', 127],
    ['if', 2],
  ])('%s completes with %d', async (command, exitCode) => {
    expect(await guest.run(command)).toMatchObject({ status: 'completed', exitCode });
  });

  it.each(['-x', '--', '+e', '# nothing', '\n\n', '-c "echo no"'])(
    '%j is run as a command, not parsed as an option',
    async (command) => {
      const { status, exitCode, stdout } = await guest.run(command);
      expect({ status, stdout }).toEqual({ status: 'completed', stdout: '' });
      expect([0, 127]).toContain(exitCode);
    },
  );

  const script = 'echo "$0 $# $@"; cat <<END\nhere $((1 + 1)) \\$x\nEND\nset -- a b; echo $#; exit 5\n';

  it('of 1 MiB behaves like the same short one', async () => {
    const short = await guest.run(script);
    const limit = 1_048_576;
    const filling = `: '${'ä𝄞x'.repeat(140_000)}`;
    const long = `${filling}'\n${script}`;
    const report = await guest.run(long + '\n'.repeat(limit - Buffer.byteLength(long)));
    expect(report).toMatchObject({ exitCode: 5, stdout: short.stdout, stderr: '' });
    expect(short.stdout).toBe('/bin/sh 0 \nhere 2 $x\n2\n');
  });

  it('of 1 MiB passes every character on', async () => {
    const text = 'ä𝄞x'.repeat(149_000);
    const { stdout } = await guest.run(`cat <<'END' | sha256sum\n${text}\nEND\n`);
    const hash = createHash('sha256').update(`${text}\n`).digest('hex');
    expect(stdout).toBe(`${hash}  -\n`);
  });

  it.each([131_071, 131_072])('of %d bytes runs', async (bytes) => {
    const command = 'echo done #';
    expect((await guest.run(command.padEnd(bytes, 'x'))).stdout).toBe('done\n');
  });

  it('whose environment leaves no room for it is rejected, with nothing started', async () => {
    const env = Object.fromEntries(
      Array.from({ length: 20 }, (_, index) => [`V${index}`, 'x'.repeat(100_000)]),
    );
    const executionId = guest.newId();
    const { body } = await guest.execute(`touch too-large # ${'x'.repeat(1_000_000)}`, { env, executionId });
    expect(body.error).toMatchObject({ kind: 'invalid', code: 'invalid_command' });
    expect((await guest.find(executionId)).body.error?.code).toBe('execution_unknown');
    expect(existsSync(join(guest.volume, 'too-large'))).toBe(false);
  });

  it('starts in the given folder, relative to the volume or absolute', async () => {
    mkdirSync(join(guest.volume, 'a folder/-'), { recursive: true });
    const command = 'echo "$PWD ${OLDPWD-}"; pwd -P';
    for (const cwd of ['a folder/-', join(guest.volume, 'a folder/-')]) {
      const folder = join(guest.volume, 'a folder/-');
      expect((await guest.run(command, { cwd })).stdout).toBe(`${folder} \n${folder}\n`);
    }
    expect((await guest.run('pwd', { cwd: '' })).stdout).toBe(`${guest.volume}\n`);
    expect((await guest.run('pwd; exit 3', { cwd: '/' })).exitCode).toBe(3);
  });

  it.each(['gone', '/etc/passwd', 'locked', 'through/inside', 'x'.repeat(5_000), 'loop', '/proc/1/cwd/..no'])(
    'is rejected for a folder it may not enter (%.20s), with nothing started',
    async (cwd) => {
      const locked = join(guest.volume, 'locked');
      mkdirSync(join(locked, 'inside'), { recursive: true });
      chmodSync(locked, 0o700);
      for (const [link, target] of [
        ['through', 'locked'],
        ['loop', 'loop'],
      ] as const) {
        if (!readdirSync(guest.volume).includes(link)) symlinkSync(target, join(guest.volume, link));
      }
      const allowed = agentUser === null && (cwd === 'locked' || cwd === 'through/inside');
      const executionId = guest.newId();
      const { body } = await guest.execute('touch started', { cwd, executionId });
      expect(body.error?.code).toBe(allowed ? undefined : 'invalid_cwd');
      if (!allowed) expect((await guest.find(executionId)).body.error?.code).toBe('execution_unknown');
    },
  );

  it('keeps the last 262,144 characters of each stream, and marks the cut', async () => {
    const report = await guest.run(
      `yes äx | tr -d '\\n' | head -c 3000000; printf 'é%.0s' $(seq 262144) >&2`,
    );
    const whole = Buffer.alloc(3_000_000, 'äx').toString('utf8');
    expect(report.stdout === CUT_MARK + whole.slice(-KEPT_CHARACTERS)).toBe(true);
    expect(report.stderr === 'é'.repeat(KEPT_CHARACTERS)).toBe(true);
  });

  it('shows bytes that are not UTF-8 as replacement characters', async () => {
    expect((await guest.run(`printf '\\357\\273\\277a\\377\\342\\202b\\360\\237'`)).stdout).toBe(
      '\u{feff}a\u{fffd}\u{fffd}b\u{fffd}',
    );
  });

  it('has ended when its shell exits; its background processes continue, and their output is dropped', async () => {
    // Its child runs until the test ends it, so a report that waited for the child would never arrive.
    const report = await guest.run(
      `echo first; (until [ -e stop ]; do printf '%1000s\\n' late || exit; echo > ticks; sleep 0.01; done; echo alive > end) &`,
    );
    expect(report).toMatchObject({ status: 'completed', exitCode: 0 });
    expect(report.stdout).toContain('first\n');
    // The child recreates the file only after it has written once more.
    rmSync(join(guest.volume, 'ticks'), { force: true });
    await eventually(() => existsSync(join(guest.volume, 'ticks')));
    writeFileSync(join(guest.volume, 'stop'), '');
    await eventually(() => guest.read('end') === 'alive\n');
    expect((await guest.find(report.executionId)).body['stdout']).toBe(report.stdout);
  });

  it('includes output that its processes write shortly after its shell has exited', async () => {
    let captured = 0;
    for (let round = 0; round < 20; round += 1) {
      captured += (await guest.run('(sleep 0.01; echo last) & exit 0')).stdout === 'last\n' ? 1 : 0;
    }
    // On a busy machine the drain time may pass before the other process is scheduled.
    expect(captured).toBeGreaterThanOrEqual(10);
  });

  it('runs once for many requests with its id: they join it while it runs, and get its result afterwards', async () => {
    const executionId = guest.newId();
    const command = 'echo run >> runs; until [ -e go ]; do sleep 0.01; done; echo done';
    const pending = Array.from({ length: 5 }, () => guest.run(command, { executionId }));
    await eventually(() => existsSync(join(guest.volume, 'runs')));
    expect((await guest.find(executionId)).body).toMatchObject({
      status: 'running',
      stdout: null,
      exitCode: null,
    });
    expect((await guest.ask(GUEST_ROUTES.runningExecutions)).body['executionIds']).toEqual([executionId]);
    writeFileSync(join(guest.volume, 'go'), '');
    const reports = await Promise.all([
      ...pending,
      guest.run('echo other >> runs', { executionId, cwd: '/' }),
    ]);
    for (const report of reports) expect(report).toEqual(reports[0]);
    expect(await guest.run(command, { executionId })).toEqual(reports[0]);
    expect(guest.read('runs')).toBe('run\n');
    expect((await guest.ask(GUEST_ROUTES.runningExecutions)).body['executionIds']).toEqual([]);
  });

  it('is reported as running when the wait ends first, and continues without its caller', async () => {
    const { executionId, status } = await guest.run('sleep 0.3; echo done', { waitMs: 10 });
    expect(status).toBe('running');
    expect((await guest.find(executionId, 20_000)).body).toMatchObject({
      status: 'completed',
      stdout: 'done\n',
    });
  });

  it.each([
    { executionId: '../../escape' },
    { timeoutMs: 0 },
    { env: { 'A=B': '' } },
    { env: { A: '\0' } },
    { command: 'a\0b' },
    { waitMs: -1 },
  ])('that is malformed (%j) is rejected', async (changes) => {
    expect((await guest.execute('true', changes)).body.error?.code).toBe('invalid_request');
  });

  it('of another generation is unknown', async () => {
    const body = { command: 'true', cwd: null, env: {}, timeoutMs: 1_000 };
    expect((await guest.ask(GUEST_ROUTES.executeLegacy, body)).body.error?.code).toBe('guest_route_unknown');
  });

  it('with an unknown id is not found', async () => {
    for (const response of [await guest.find('exe_none'), await guest.cancel('exe_none')]) {
      expect(response.body.error).toMatchObject({ kind: 'not_found', code: 'execution_unknown' });
    }
  });
});
