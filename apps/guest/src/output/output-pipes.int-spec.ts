import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { OutputPipes, type OutputPipe } from './output-pipes.js';
import { startCaptured } from './start-captured.js';

const BATCH = 32;

describe('pipes for output', () => {
  let dir: string;
  let folder: string;
  let pipes: OutputPipes;

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'berth-pipes-'));
    folder = join(dir, 'pipes');
    pipes = new OutputPipes(folder);
    await pipes.refill();
  });

  afterEach(async () => {
    vi.unstubAllEnvs();
    await pipes.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const take = (): OutputPipe => {
    const pipe = pipes.take();
    if (pipe === undefined) throw new Error('There is no pipe.');
    return pipe;
  };
  const descriptors = (): number => readdirSync('/proc/self/fd').length;
  const shell = (script: string, merged = false): ReturnType<typeof startCaptured> =>
    startCaptured(pipes, merged, (stdio) => spawn('/bin/sh', ['-c', script], { stdio }));
  const read = async (stream: Readable | null): Promise<string> => (stream === null ? '' : text(stream));

  it('are accessible to this user only, and writable for any user through a descriptor', () => {
    expect(statSync(folder).mode & 0o777).toBe(0o700);
    const files = readdirSync(folder).map((name) => statSync(join(folder, name)));
    expect(files).toHaveLength(BATCH);
    for (const file of files) expect([file.isFIFO(), file.mode & 0o777]).toEqual([true, 0o622]);
  });

  it('end with their last writer, and are reused', async () => {
    const warm = shell('echo warm');
    await Promise.all([read(warm.stdout), read(warm.stderr)]);
    // Some of the first round may be open a moment longer.
    const before = descriptors();
    for (let round = 0; round < 2 * BATCH; round += 1) {
      const { stdout, stderr } = shell('echo out; echo err > /dev/stderr; echo more >> /dev/stdout');
      expect(await Promise.all([read(stdout), read(stderr)])).toEqual(['out\nmore\n', 'err\n']);
    }
    await eventually(() => descriptors() <= before);
    expect(readdirSync(folder)).toHaveLength(BATCH);
  });

  it('combined use one pipe for both streams', async () => {
    const { stdout, stderr } = shell('echo a; echo b >&2; echo c > /dev/stderr; echo d > /dev/stdout', true);
    expect(stderr).toBeNull();
    expect(await read(stdout)).toBe('a\nb\nc\nd\n');
  });

  it('are not reused while a process can write to them', async () => {
    const { child, stdout } = shell(`(until [ -e "${dir}/go" ]; do sleep 0.01; done; echo late) &`);
    await once(child, 'exit');
    const taken = Array.from({ length: BATCH - 2 }, take);
    expect(pipes.take()).toBeUndefined();
    const late = read(stdout);
    writeFileSync(join(dir, 'go'), '');
    expect(await late).toBe('late\n');
    for (const { writeEnd } of taken) closeSync(writeEnd);
    await eventually(() => pipes.take() !== undefined);
  });

  it('are created when none is left', async () => {
    const taken = Array.from({ length: BATCH }, take);
    expect([pipes.take(), pipes.isShort]).toEqual([undefined, true]);
    await Promise.all([pipes.refill(), pipes.refill()]);
    expect([pipes.isShort, readdirSync(folder).length]).toEqual([false, 2 * BATCH]);
    for (const { writeEnd } of taken) closeSync(writeEnd);
  });

  it('are not lost when the child cannot be started', async () => {
    const before = descriptors();
    const failed = startCaptured(pipes, false, (stdio) => spawn('/no/such/program', [], { stdio }));
    await once(failed.child, 'error');
    expect(() =>
      startCaptured(pipes, false, () => {
        throw new Error('too large');
      }),
    ).toThrow('too large');
    await eventually(() => descriptors() === before);
    expect(Array.from({ length: BATCH }, take)).toHaveLength(BATCH);
  });

  it('are created again when their folder was removed', async () => {
    rmSync(folder, { recursive: true });
    while (!pipes.isShort) expect(pipes.take()).toBeUndefined();
    await pipes.refill();
    expect(await read(shell('echo again > /dev/stdout').stdout)).toBe('again\n');
  });

  it('are not used if other files replaced them', async () => {
    for (const name of readdirSync(folder)) {
      rmSync(join(folder, name));
      writeFileSync(join(folder, name), '');
    }
    const before = descriptors();
    expect(pipes.take()).toBeUndefined();
    expect(descriptors()).toBe(before);
  });

  it.each([
    ['no mkfifo', '/nonexistent', 'pipes'],
    ['no place for them', process.env['PATH'], 'a-file/pipes'],
  ])('are sockets when there is %s', async (_, path, place) => {
    writeFileSync(join(dir, 'a-file'), '');
    vi.stubEnv('PATH', path);
    await pipes.close();
    pipes = new OutputPipes(join(dir, place));
    await pipes.refill();
    expect(pipes.isShort).toBe(false);
    const { stdout, stderr } = shell('echo out; echo err >&2');
    expect(await Promise.all([read(stdout), read(stderr)])).toEqual(['out\n', 'err\n']);
  });

  it('leave no file behind, and those in use keep working', async () => {
    const { child, stdout } = shell(`until [ -e "${dir}/go" ]; do sleep 0.01; done; echo late > /dev/stdout`);
    const late = read(stdout);
    await pipes.close();
    expect(readdirSync(dir)).toEqual([]);
    writeFileSync(join(dir, 'go'), '');
    await once(child, 'exit');
    expect([await late, pipes.take(), pipes.isShort]).toEqual(['late\n', undefined, false]);
    expect(readdirSync(dir)).toEqual(['go']);
  });

  it('that are being created are removed too', async () => {
    await pipes.close();
    for (let round = 0; round < 10; round += 1) await new OutputPipes(folder).close();
    expect(readdirSync(dir)).toEqual([]);
  });

  it('are created even while those of an earlier owner are still being created', async () => {
    for (let round = 0; round < 10; round += 1) {
      const earlier = new OutputPipes(folder);
      pipes = new OutputPipes(folder);
      await pipes.refill();
      expect(await read(shell('echo named > /dev/stdout').stdout)).toBe('named\n');
      await earlier.refill();
      await earlier.close();
    }
  });

  it('of an earlier owner are removed', async () => {
    mkdirSync(join(folder, 'left'));
    pipes = new OutputPipes(folder);
    await pipes.refill();
    expect(readdirSync(folder)).toHaveLength(BATCH);
  });
});
