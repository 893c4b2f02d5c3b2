import { jsonEvent, StreamDeletedError, WrongExpectedVersionError } from '@eventstore/db-client';
import { DomainError, storageFull } from '@berth/kernel';
import type { EsdbConnection } from './esdb-connection.js';
import { isOutOfSpace } from './esdb-errors.js';
import { withRetries, withinTime, type Timeouts } from './esdb-timeouts.js';
import { RevisionConflict, type ExpectedRevision, type NewEvent } from './event-store.js';

/** The result of an append as the client reports it; not every server reports the position. */
export interface ClientAppended {
  readonly revision: bigint;
  readonly position: bigint | undefined;
}

/**
 * Appends by one unary call for each attempt. Repeats an attempt with an unknown outcome, unchanged, for up to 4 s: the
 * store recognises events that it already has by their ids at the revision after the expected one. All attempts share
 * that deadline, so that none is sent or continued once the caller has its error. What the server has received by then
 * may still be written.
 */
export const appendToStream = async (
  connection: EsdbConnection,
  stream: string,
  events: readonly NewEvent[],
  expected: ExpectedRevision,
): Promise<ClientAppended> => {
  const prepared = prepare(events);
  let attempts = 0;
  return withRetries(async (timeouts) => {
    attempts += 1;
    try {
      return await appendOnce(connection, stream, prepared, expected, timeouts);
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) throw toConflict(stream, expected, error);
      if (error instanceof StreamDeletedError) throw streamDeleted(error);
      // An earlier attempt may have been written, so it is repeated like one without a response.
      if (isOutOfSpace(error) && attempts === 1) throw storageFull({ cause: error, effect: 'none' });
      throw error;
    }
  });
};

type PreparedEvent = ReturnType<typeof jsonEvent>;

const prepare = (events: readonly NewEvent[]): PreparedEvent[] => {
  if (events.length === 0) throw new Error('An append needs at least one event.');
  return events.map(({ id, type, data, metadata }) => {
    // The client serialises inside a promise executor, where data that is not JSON would end the process.
    JSON.stringify([data, metadata]);
    return jsonEvent({ id, type, data: { ...data }, metadata: { ...metadata } });
  });
};

const appendOnce = async (
  { calls, call }: EsdbConnection,
  stream: string,
  events: PreparedEvent[],
  expected: ExpectedRevision,
  { attemptMs, totalMs }: Timeouts,
): Promise<ClientAppended> => {
  const options = { expectedRevision: expected, deadline: totalMs, ...call };
  const result = await calls.call((open) =>
    withinTime(open.listen(open.client.appendToStream(stream, events, options)), attemptMs, open.gone),
  );
  // Only if the URL has throwOnAppendFailure=false; the client's revision is then meaningless.
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
  new DomainError('conflict', 'stream_deleted', 'This was deleted permanently.', {}, { cause });
