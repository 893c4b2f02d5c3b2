import { expect, it } from 'vitest';
import { PendingRequests, SILENCE_MS } from './pending-requests.js';

/** As SIGSTOP or a long collection of garbage does. */
const standStill = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
};

it('a process that stood still goes on waiting for what it asked before, and no longer for what it asks now', () => {
  const pending = new PendingRequests();
  const ignored = (): void => undefined;
  pending.add('before', 20_000, { whenLost: 'wait' }, ignored).catch(ignored);
  standStill(SILENCE_MS + 200);
  // Asked by those who hold the request, before this process has looked at its timers.
  expect(pending.waitsMs('before')).toBeGreaterThan(SILENCE_MS / 2);
  pending.add('now', 20_000, { whenLost: 'wait' }, ignored).catch(ignored);
  expect(pending.waitsMs('now')).toBeLessThanOrEqual(SILENCE_MS);
  pending.failAll(() => new Error('The test is over.') as never);
});
