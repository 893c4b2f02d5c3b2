import { expect, it } from 'vitest';
import { PendingRequests, SILENCE_MS } from './pending-requests.js';

/** Blocks the process like SIGSTOP or a long garbage collection. */
const standStill = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
};

it('a process that was frozen keeps waiting for earlier requests, and not longer than usual for new ones', () => {
  const pending = new PendingRequests();
  const ignored = (): void => undefined;
  pending.add('before', 20_000, { whenLost: 'wait' }, ignored).catch(ignored);
  standStill(SILENCE_MS + 200);
  // As when a handler asks before this process has run its timers.
  expect(pending.waitsMs('before')).toBeGreaterThan(SILENCE_MS / 2);
  pending.add('now', 20_000, { whenLost: 'wait' }, ignored).catch(ignored);
  expect(pending.waitsMs('now')).toBeLessThanOrEqual(SILENCE_MS);
  pending.failAll(() => new Error('The test is over.') as never);
});
