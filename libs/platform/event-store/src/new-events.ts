import { randomUUID } from 'node:crypto';
import type { Actor } from '@berth/kernel';
import { injectTrace, requestContext } from '@berth/telemetry';
import type { EventCodec } from './event-codec.js';
import type { EventData, EventMetadata, NewEvent } from './event-store.js';
import type { FoldedEvent } from './stream-state.js';

/** Who sends a command, and under which id; the same id sent twice acts once. */
export interface CommandMeta {
  readonly commandId: string;
  readonly accountId: string;
  readonly actor: Actor;
}

/**
 * What a command's events are written as. Their ids are of this one attempt: the store recognises them when the append is
 * sent again, and nothing else. Were they the same for every attempt at the command, it would take the events of another
 * process that was sent the same command for these, and what is answered and cached would not be what stands in the log.
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

/** Events as a read will bring them once they stand behind revision `before`: they have been JSON in between. */
export const asRead = (stored: readonly NewEvent[], before: bigint | null): readonly FoldedEvent[] =>
  stored.map(({ type, data, metadata }, index) => ({
    type,
    data: JSON.parse(JSON.stringify(data)) as EventData,
    metadata,
    revision: (before ?? -1n) + 1n + BigInt(index),
  }));

const describe = ({ commandId, accountId, actor }: CommandMeta): EventMetadata => {
  // Consumers, audit and usage go by the account: an event without one would concern none of them.
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
