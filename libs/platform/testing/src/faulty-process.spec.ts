import { describe, expect, it } from 'vitest';
import { FaultyProcess, type FaultKind, type StruckFault } from './faulty-process.js';

/** Runs three steps, the second with a fault. */
const run = async (kind: FaultKind) => {
  const process = new FaultyProcess(() => new Error('unavailable'));
  const done: string[] = [];
  const struck: StruckFault[] = [];
  const step = (name: string): Promise<void> =>
    process.step(name, () => {
      done.push(name);
      return Promise.resolve();
    });
  const outcome = await process.act(
    [{ at: 2, kind, afterMs: 5 }],
    (one) => struck.push(one),
    async () => {
      await step('one');
      await step('two').catch(() => undefined);
      await step('three');
      return 'end';
    },
  );
  const atEnd = [...done];
  await process.settle();
  return { outcome, struck, atEnd, done, dead: process.dead };
};

describe('a faulty process', () => {
  it.each([
    ['refused', ['one', 'three']],
    ['lost', ['one', 'two', 'three']],
    ['slow', ['one', 'two', 'three']],
  ] as const)('continues after a step that is %s', async (kind, done) => {
    const ran = await run(kind);
    expect(ran).toMatchObject({ outcome: { kind: 'returned', value: 'end' }, atEnd: done, dead: false });
    expect(ran.struck).toEqual([{ step: 'two', kind }]);
  });

  it('executes a late step after its caller saw an outage', async () => {
    const ran = await run('late');
    expect(ran.atEnd).toEqual(['one', 'three']);
    expect(ran.done).toEqual(['one', 'three', 'two']);
  });

  it.each([
    ['killed-before', ['one']],
    ['killed-after', ['one', 'two']],
  ] as const)('executes nothing more after it has died (%s)', async (kind, done) => {
    const ran = await run(kind);
    expect(ran).toMatchObject({ outcome: { kind: 'killed' }, done, dead: true });
  });
});
