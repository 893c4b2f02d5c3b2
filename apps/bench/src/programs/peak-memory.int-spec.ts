import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import { growthDuring } from './peak-memory.js';

const MIB = 2 ** 20;

/** Allocates this many bytes for a moment on request, and replies when it has released them. */
const PROGRAM = `
process.on('message', (bytes) => {
  let held = Buffer.alloc(bytes, 1);
  const sum = held[0] + held.at(-1);
  held = undefined;
  gc();
  process.send(sum);
});
process.on('disconnect', () => process.exit(0));
process.send('ready');`;

const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
});

const startProgram = async (): Promise<{ pid: number; hold: (bytes: number) => Promise<unknown> }> => {
  const child = spawn(process.execPath, ['--expose-gc', '-e', PROGRAM], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  children.push(child);
  await once(child, 'message');
  return {
    pid: child.pid ?? 0,
    hold: (bytes) => {
      child.send(bytes);
      return once(child, 'message');
    },
  };
};

const growthOf = async (pid: number, work: () => Promise<unknown>): Promise<number> => {
  const [first, ...rest] = await growthDuring(pid, work);
  expect(rest).toEqual([]);
  expect(first?.kind).toBe('all services (one process)');
  return first?.mebibytes ?? Number.NaN;
};

describe('the growth of a process', () => {
  it('is measured at its peak, even when the memory was released before the end', async () => {
    const { pid, hold } = await startProgram();
    const grown = await growthOf(pid, () => hold(100 * MIB));
    expect(grown).toBeGreaterThan(80);
    expect(grown).toBeLessThan(130);
  });

  it('ignores memory that was released before the measurement', async () => {
    const { pid, hold } = await startProgram();
    await hold(100 * MIB);
    expect(await growthOf(pid, () => hold(MIB))).toBeLessThan(30);
  });

  it('of a process that ends during the work is not reported', async () => {
    const { pid } = await startProgram();
    const end = async (): Promise<void> => {
      const gone = children.map((child) => once(child, 'exit'));
      execFileSync('kill', ['-KILL', String(pid)]);
      await Promise.all(gone);
      children.length = 0;
    };
    expect(await growthOf(pid, end)).toBe(0);
  });

  it('includes child processes, and a failure of the work is rethrown', async () => {
    const { hold } = await startProgram();
    const growths = await growthDuring(process.pid, () => hold(100 * MIB));
    expect(Math.max(...growths.map(({ mebibytes }) => mebibytes))).toBeGreaterThan(80);
    await expect(growthDuring(process.pid, () => Promise.reject(new Error('lost')))).rejects.toThrow('lost');
  });
});
