import { jsonEvent, StreamDeletedError, WrongExpectedVersionError } from '@eventstore/db-client';
import { DomainError } from '@berth/kernel';
import type { EsdbConnection } from './esdb-connection.js';
import { persistently, withinTime } from './esdb-patience.js';
import { RevisionConflict, type ExpectedRevision, type NewEvent } from './event-store.js';

/**
 * How much longer than we listen a call goes on. Its deadline would break it off in the middle of its events, and only
 * tells that the store is slow; what it does after all is recognised by the next attempt.
 */
const LINGER_MS = 10_000;

/** Where the client says an append ended; not every server says the position. */
export interface ClientAppended {
  readonly revision: bigint;
  readonly position: bigint | undefined;
}

/**
 * Appends by a unary call per attempt. Attempts with an unknown outcome are repeated, unchanged, within 4 s: the store
 * knows events it has by their ids, at the revision after the expected one.
 */
export const appendToStream = async (
  connection: EsdbConnection,
  stream: string,
  events: readonly NewEvent[],
  expected: ExpectedRevision,
): Promise<ClientAppended> => {
  const prepared = prepare(events);
  return persistently(async (timeoutMs) => {
    try {
      return await appendOnce(connection, stream, prepared, expected, timeoutMs);
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) throw toConflict(stream, expected, error);
      if (error instanceof StreamDeletedError) throw streamDeleted(error);
      throw error;
    }
  });
};

type PreparedEvent = ReturnType<typeof jsonEvent>;

const prepare = (events: readonly NewEvent[]): PreparedEvent[] => {
  if (events.length === 0) throw new Error('An append needs at least one event.');
  return events.map(({ id, type, data, metadata }) => {
    // The client writes inside a promise executor: what cannot be written as JSON would end the process there.
    JSON.stringify([data, metadata]);
    return jsonEvent({ id, type, data: { ...data }, metadata: { ...metadata } });
  });
};

const appendOnce = async (
  { calls, call }: EsdbConnection,
  stream: string,
  events: PreparedEvent[],
  expected: ExpectedRevision,
  timeoutMs: number,
): Promise<ClientAppended> => {
  const options = { expectedRevision: expected, deadline: timeoutMs + LINGER_MS, ...call };
  const result = await calls.call((open) =>
    withinTime(open.listen(open.client.appendToStream(stream, events, options)), timeoutMs, open.gone),
  );
  // Only when the URL says throwOnAppendFailure=false, where the client's revision means nothing.
  if (!result.success) throw new RevisionConflict(stream, expected, null);
  return { revision: result.nextExpectedRevision, position: result.position?.commit };
};

const toConflict = (
  stream: string,
  expected: ExpectedRevision,
  error: WrongExpectedVersionError,
): RevisionConflict => {
  const actual = error.actualVersion;
  return new RevisionConflict(
    stream,
    expected,
    typeof actual === 'bigint' || actual === 'no_stream' ? actual : null,
  );
};

const streamDeleted = (cause: unknown): DomainError =>
  new DomainError('conflict', 'stream_deleted', 'This was deleted for good.', {}, { cause });
