import { describe, expect, it } from 'vitest';
import { FaultyProcess, type FaultKind, type StruckFault } from './faulty-process.js';

/** Two steps, the second of them with a fault. */
const run = async (kind: FaultKind) => {
  const process = new FaultyProcess(() => new Error('away'));
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

describe('a process with faults', () => {
  it.each([
    ['refused', ['one', 'three']],
    ['lost', ['one', 'two', 'three']],
    ['slow', ['one', 'two', 'three']],
  ] as const)('that has a step %s goes on', async (kind, done) => {
    const ran = await run(kind);
    expect(ran).toMatchObject({ outcome: { kind: 'returned', value: 'end' }, atEnd: done, dead: false });
    expect(ran.struck).toEqual([{ step: 'two', kind }]);
  });

  it('does a late step after its caller heard of an outage', async () => {
    const ran = await run('late');
    expect(ran.atEnd).toEqual(['one', 'three']);
    expect(ran.done).toEqual(['one', 'three', 'two']);
  });

  it.each([
    ['killed-before', ['one']],
    ['killed-after', ['one', 'two']],
  ] as const)('that is %s a step does nothing any more', async (kind, done) => {
    const ran = await run(kind);
    expect(ran).toMatchObject({ outcome: { kind: 'killed' }, done, dead: true });
  });
});
