import { setTimeout as delay } from 'node:timers/promises';
import { MAX_LOG_WAIT_MS, type LogsPage } from '@berth/contracts/runtime';
import { isDomainError } from '@berth/kernel';
import { errorResponse } from '../http/error-response.js';
import type { LogPosition } from './agent-logs.js';
import type { ServerSentEvent } from './sse-stream.js';

/** What `followLogs` needs: the logs, the key and the client. */
export interface Followed {
  readonly first: LogsPage;
  read(position: LogPosition): Promise<LogsPage>;
  /** Resolves with the reason why the credential is no longer valid. */
  refused(over: AbortSignal): Promise<unknown>;
  send(events: readonly ServerSentEvent[]): Promise<void>;
  /** The client is gone, or the gateway stops. */
  readonly over: AbortSignal;
}

/** Pause after a read that returned immediately without entries, or failed. */
const PAUSE_MS = 500;

/**
 * Sends entries as `log` events until the stream ends. Returns the last event, which states the reason, or undefined if
 * no client is there to read it. The id of an event is the cursor after it, so that a client that reconnects misses
 * nothing.
 */
export const followLogs = async (followed: Followed): Promise<ServerSentEvent | undefined> => {
  const ended = new AbortController();
  const over = AbortSignal.any([followed.over, ended.signal]);
  try {
    const reason = await Promise.race([
      readOn(followed, over),
      followed.refused(over),
      whenAborted(followed.over),
    ]);
    return reason === undefined ? undefined : { event: 'end', data: errorResponse(reason).body.detail };
  } finally {
    ended.abort();
  }
};

/** Returns the error that prevents further reading. */
const readOn = async (followed: Followed, over: AbortSignal): Promise<unknown> => {
  await followed.send(toEvents(followed.first));
  let cursor = followed.first.nextCursor;
  while (!over.aborted) {
    const startedAt = performance.now();
    const page = await readOrRefusal(followed, { cursor, waitMs: cursor === null ? 0 : MAX_LOG_WAIT_MS });
    if (over.aborted) return undefined;
    if (isRefusal(page)) return page.refusal;
    await followed.send(toEvents(page));
    cursor = page.nextCursor ?? cursor;
    if (page.logs.length === 0 && performance.now() - startedAt < PAUSE_MS) await pause(PAUSE_MS, over);
  }
  return undefined;
};

interface Refusal {
  readonly refusal: unknown;
}

const isRefusal = (page: LogsPage | Refusal): page is Refusal => 'refusal' in page;

/** A host that is briefly unavailable does not end the stream: the agent and its logs still exist. */
const readOrRefusal = async (followed: Followed, position: LogPosition): Promise<LogsPage | Refusal> => {
  try {
    return await followed.read(position);
  } catch (error) {
    const isTemporary = isDomainError(error, 'unavailable') || isDomainError(error, 'timeout');
    return isTemporary ? { logs: [], nextCursor: null } : { refusal: error };
  }
};

const toEvents = ({ logs, nextCursor }: LogsPage): readonly ServerSentEvent[] =>
  logs.map((entry, index) => ({
    event: 'log',
    data: entry,
    ...(index === logs.length - 1 && nextCursor !== null ? { id: nextCursor } : {}),
  }));

const whenAborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });

const pause = async (millis: number, signal: AbortSignal): Promise<void> => {
  await delay(millis, undefined, { signal }).catch(() => undefined);
};
