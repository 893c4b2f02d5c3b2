import { existsSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GUEST_ROUTES } from '@berth/guest-protocol';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CommandGuest } from '../__fixtures__/executions.fixture.js';

const BATCH = 32;

describe('a command that opens its own output by name', () => {
  let guest: CommandGuest;

  beforeEach(async () => {
    guest = await CommandGuest.open();
  });

  afterEach(() => guest.destroy());

  const pipes = (): string[] => readdirSync(join(guest.dir, 'pipes'));
  const descriptors = (): number => readdirSync(`/proc/${guest.pid}/fd`).length;

  it.each([
    ['echo e > /dev/stderr; echo o > /dev/stdout', 'o\n', 'e\n'],
    ['echo both | tee /dev/stderr', 'both\n', 'both\n'],
    ['echo 1; echo 2 >> /dev/stdout; echo 3; sh -c "echo 4 >> /dev/fd/1"', '1\n2\n3\n4\n', ''],
    ['echo 1 >&2; setsid -w sh -c "echo 2 > /proc/self/fd/2"; echo 3 >&2', '', '1\n2\n3\n'],
    ['(cat < /dev/stdout) 2>/dev/null || echo closed', 'closed\n', ''],
  ])('is captured: %s', async (command, stdout, stderr) => {
    // Without root, the agent's user owns the FIFO and may open it for reading.
    if (process.getuid?.() !== 0 && command.includes('cat')) return;
    expect(await guest.run(command)).toMatchObject({ status: 'completed', exitCode: 0, stdout, stderr });
  });

  it('does not mix its output with others when 64 do so at once, and leaves nothing behind', async () => {
    await guest.run('true');
    const before = descriptors();
    const all = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        guest.run(
          `echo "out ${index}" > /dev/stdout; until [ -e go ]; do sleep 0.05; done; echo "err ${index}" > /dev/stderr`,
          { waitMs: 0 },
        ),
      ),
    );
    expect(pipes().length).toBeGreaterThanOrEqual(2 * 64);
    writeFileSync(join(guest.volume, 'go'), '');
    for (const [index, { executionId }] of all.entries()) {
      const { body } = await guest.find(executionId, 60_000);
      expect([body['stdout'], body['stderr']]).toEqual([`out ${index}\n`, `err ${index}\n`]);
    }
    const made = pipes().length;
    for (let round = 0; round < 64; round += 1) await guest.run('true');
    expect(pipes()).toHaveLength(made);
    await eventually(() => descriptors() <= before);
  });

  it('in the background outlives its shell, is no longer captured, and leaves nothing once it ends', async () => {
    await guest.run('true');
    const before = descriptors();
    const { executionId, stdout } = await guest.run(
      `echo first; (until [ -e stop ]; do printf '%9000s\\n' late > /dev/stdout || exit; echo > ticks; sleep 0.01; done; echo alive > end) & :`,
    );
    rmSync(join(guest.volume, 'ticks'), { force: true });
    await eventually(() => existsSync(join(guest.volume, 'ticks')));
    expect((await guest.run('echo other')).stdout).toBe('other\n');
    expect((await guest.find(executionId)).body['stdout']).toBe(stdout);
    writeFileSync(join(guest.volume, 'stop'), '');
    await eventually(() => existsSync(join(guest.volume, 'end')));
    await eventually(() => descriptors() <= before);
    expect(pipes()).toHaveLength(BATCH);
  });

  it('does so in folders that only the guest can access, which are empty afterwards', async () => {
    expect(statSync(join(guest.dir, 'pipes')).mode & 0o777).toBe(0o700);
    await guest.run('true');
    await guest.kill();
    expect(pipes()).toHaveLength(BATCH);
    await guest.start();
    expect((await guest.run('echo again > /dev/stdout')).stdout).toBe('again\n');
    expect(pipes()).toHaveLength(BATCH);
    await guest.shutDown();
    expect(existsSync(join(guest.dir, 'pipes'))).toBe(false);
  });

  it('cannot do so without mkfifo, and everything else works', async () => {
    await guest.shutDown();
    await guest.start({ PATH: '/nonexistent' });
    const report = await guest.run('echo out; echo err >&2; echo lost > /dev/stdout; exit 3');
    expect(report).toMatchObject({ status: 'completed', exitCode: 3, stdout: 'out\n' });
    expect(report.stderr).toContain('err\n');
    expect(report.stderr).toContain('/dev/stdout');
  });

  it('works in an older guest too, in order and for any number of commands; without mkfifo, only reopening fails', async () => {
    const run = async (command: string): Promise<unknown> => {
      const body = { command, cwd: null, env: {}, timeoutMs: 60_000 };
      return (await guest.ask(GUEST_ROUTES.executeLegacy, body)).body;
    };
    await guest.shutDown();
    await guest.start({}, 'legacy');
    const named = 'echo 1; echo 2 > /dev/stderr; echo 3 >&2; echo 4 >> /dev/stdout; echo 5 | tee /dev/stderr';
    expect(await run(named)).toEqual({ exitCode: 0, output: '1\n2\n3\n4\n5\n5\n' });
    const all = Array.from({ length: 48 }, (_, index) =>
      run(`until [ -e go ]; do sleep 0.05; done; echo ${index} > /dev/stderr`),
    );
    await eventually(() => pipes().length > BATCH);
    writeFileSync(join(guest.volume, 'go'), '');
    expect(await Promise.all(all)).toEqual(all.map((_, index) => ({ exitCode: 0, output: `${index}\n` })));
    await guest.shutDown();
    await guest.start({ PATH: '/nonexistent' }, 'legacy');
    expect(await run('echo 1; echo 2 >&2; echo 3')).toEqual({ exitCode: 0, output: '1\n2\n3\n' });
  });

  it('uses no more memory than with sockets', async () => {
    await guest.run('head -c 40000000 /dev/zero > /dev/stdout');
    const before = guest.residentBytes();
    await guest.run('head -c 400000000 /dev/zero > /dev/stdout');
    expect(guest.residentBytes() - before).toBeLessThan(48 * 1024 * 1024);
  });
});
