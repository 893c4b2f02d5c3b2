import { randomUUID } from 'node:crypto';
import type { Actor } from '@berth/kernel';
import { injectTrace, requestContext } from '@berth/telemetry';
import type { EventCodec } from './event-codec.js';
import type { EventData, EventMetadata, NewEvent } from './event-store.js';
import type { FoldedEvent } from './stream-state.js';

/** The sender and the id of a command; a command sent twice with the same id is executed once. */
export interface CommandMeta {
  readonly commandId: string;
  readonly accountId: string;
  readonly actor: Actor;
}

/**
 * Converts the events of a command for an append. Their ids belong to this attempt, so that the store recognises only a
 * repetition of the same append. With the same ids for every attempt, the store would take events that another process
 * decided for the same command for these, and the returned state would differ from the log.
 */
export const newEvents = <Event>(
  codec: EventCodec<Event>,
  events: readonly Event[],
  meta: CommandMeta,
): readonly NewEvent[] => {
  const metadata = describe(meta);
  return events.map((event) => {
    const { type, data } = codec.toStored(event);
    return { id: randomUUID(), type, data, metadata };
  });
};

/** Returns the events as a later read will return them after revision `before`: after a round trip through JSON. */
export const asRead = (stored: readonly NewEvent[], before: bigint | null): readonly FoldedEvent[] =>
  stored.map(({ id, type, data, metadata }, index) => ({
    id,
    type,
    data: JSON.parse(JSON.stringify(data)) as EventData,
    metadata,
    revision: (before ?? -1n) + 1n + BigInt(index),
  }));

const describe = ({ commandId, accountId, actor }: CommandMeta): EventMetadata => {
  // Consumers, audit and usage select events by account and would never see an event without one.
  if (accountId === '') throw new Error(`The command ${commandId} names no account.`);
  const { traceparent } = injectTrace();
  return {
    correlationId: requestContext.current()?.requestId ?? commandId,
    causationId: commandId,
    ...(traceparent === undefined ? {} : { traceparent }),
    accountId,
    actor,
  };
};
