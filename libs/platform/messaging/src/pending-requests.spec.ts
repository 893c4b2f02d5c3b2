import { DomainError } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { PendingRequests, SILENCE_MS } from './pending-requests.js';

/** Blocks the process like SIGSTOP or a long garbage collection. */
const block = (ms: number): void => {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
};

it('a process that was frozen keeps waiting for earlier requests, and not longer than usual for new ones', () => {
  const pending = new PendingRequests();
  const ignored = (): void => undefined;
  pending.add('before', 20_000, { whenLost: 'wait' }, ignored).catch(ignored);
  block(SILENCE_MS + 200);
  // As when a handler asks before this process has run its timers.
  expect(pending.waitsMs('before')).toBeGreaterThan(SILENCE_MS / 2);
  pending.add('now', 20_000, { whenLost: 'wait' }, ignored).catch(ignored);
  expect(pending.waitsMs('now')).toBeLessThanOrEqual(SILENCE_MS);
  pending.failAll(() => new Error('The test is over.') as never);
});

describe('the error of a handler that did nothing', () => {
  const nothingDone = new DomainError('unavailable', 'agent_unavailable', 'No.', {}, { effect: 'none' });
  const repeatable = (pending: PendingRequests): Promise<unknown> =>
    pending.add('one', 20_000, { whenLost: 'repeat' }, () => undefined).catch((error: unknown) => error);

  it('is the outcome if the request was sent once', async () => {
    const pending = new PendingRequests();
    const outcome = repeatable(pending);
    pending.failAttempt('one', nothingDone);
    expect(await outcome).toMatchObject({ code: 'agent_unavailable', effect: 'none' });
  });

  it('leaves the effect unknown while another copy of the request may have begun', async () => {
    const pending = new PendingRequests();
    const outcome = repeatable(pending);
    pending.repeatAll();
    pending.failAttempt('one', nothingDone);
    expect(await outcome).toMatchObject({ code: 'agent_unavailable', effect: 'unknown' });
  });

  it('is the outcome if no other copy began', async () => {
    const pending = new PendingRequests();
    const outcome = repeatable(pending);
    pending.repeatAll();
    pending.failNotBegun('one', () => nothingDone);
    pending.failAttempt('one', nothingDone);
    expect(await outcome).toMatchObject({ effect: 'none' });
  });
});
