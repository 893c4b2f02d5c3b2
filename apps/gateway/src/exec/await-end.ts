import { execRequests, type ExecutionRef } from '@berth/contracts/exec';
import type { ExecutionView } from '@berth/contracts/hosting';
import { DomainError, effectOf, isDomainError } from '@berth/kernel';
import type { Requester } from '@berth/messaging';
import { setTimeout as delay } from 'node:timers/promises';

/** How long one query waits for the end before it is repeated. */
const WAIT_MS = 20_000;
/** How long to wait for another instance of `exec` after one has died. */
const SUCCESSOR_WITHIN_MS = 5_000;
const PAUSE_MS = 250;
const NEVER = new AbortController().signal;

/** Error codes of requests to which no handler responded. */
const LOST: ReadonlySet<string> = new Set(['service_unavailable', 'deadline_exceeded', 'internal_error']);

/** Whether no handler responded to a request that one may have begun. */
export const isResponseLost = (error: unknown): boolean =>
  gotNoResponse(error) && effectOf(error) === 'unknown';

/** Whether no handler responded to a request, or none received it. */
export const gotNoResponse = (error: unknown): boolean => isDomainError(error) && LOST.has(error.code);

/**
 * Waits for the end of an execution; any instance of `exec` may report it. If none responds for 5 s, or none knows the
 * execution, throws upstream `execution_outcome_unknown` with the id, because the command may run. Throws when `over`
 * aborts.
 */
export const awaitEnd = async (
  requester: Requester,
  ref: ExecutionRef,
  over: AbortSignal = NEVER,
): Promise<ExecutionView> => {
  let heardAt = performance.now();
  for (;;) {
    over.throwIfAborted();
    try {
      const view = await requester.request(execRequests.await, { ...ref, waitMs: WAIT_MS });
      if (view.status !== 'running') return view;
      heardAt = performance.now();
    } catch (error) {
      if (performance.now() - heardAt > SUCCESSOR_WITHIN_MS) throw outcomeUnknown(ref.executionId, error);
      await delay(PAUSE_MS);
    }
  }
};

/** The command may or may not have started; a later read of the execution by its id shows which. */
export const outcomeUnknown = (executionId: string, cause?: unknown): DomainError =>
  new DomainError(
    'upstream',
    'execution_outcome_unknown',
    'The command may have been started. Read the execution later to learn its outcome; do not send it again blindly.',
    { executionId },
    { cause, effect: 'unknown' },
  );
