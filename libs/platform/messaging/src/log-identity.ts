import { randomUUID } from 'node:crypto';
import { RevisionConflict, type EventStore } from '@berth/event-store';

const STREAM = 'log-identity';
const WRITER = 'messaging';

/**
 * Returns the identity of the event log: the id of the only event in a dedicated stream, written by the first
 * process that asks. A restored log has the identity of the original.
 */
export const logIdentity = async (store: EventStore): Promise<string> => {
  const known = await read(store);
  if (known !== undefined) return known;
  const id = randomUUID();
  const metadata = {
    correlationId: `log_${id}`,
    causationId: `log_${id}`,
    accountId: 'system',
    actor: { kind: 'system', id: WRITER },
  } as const;
  try {
    await store.append(STREAM, [{ id, type: 'LogIdentified', data: {}, metadata }], 'no_stream');
    return id;
  } catch (error) {
    if (!(error instanceof RevisionConflict)) throw error;
    const first = await read(store);
    if (first === undefined) throw error;
    return first;
  }
};

const read = async (store: EventStore): Promise<string | undefined> => (await store.read(STREAM))[0]?.id;
