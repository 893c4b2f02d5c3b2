import type { EventDefinition } from '@berth/kernel';
import type { ReceivedEvent } from '@berth/messaging';

/** Throws unless the event is one of `events` and its payload has the shape that the contract declares. */
export const requireShape = (
  events: readonly EventDefinition[],
  { name, version, payload, subject }: Pick<ReceivedEvent, 'name' | 'version' | 'payload' | 'subject'>,
): void => {
  const definition = events.find((event) => event.name === name && event.version === version);
  if (definition?.accepts(payload) !== true)
    throw new Error(`The payload of ${subject} does not have the shape of its event.`);
};
