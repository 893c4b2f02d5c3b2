import { randomUUID } from 'node:crypto';
import type { EventStore, NewEvent } from '@berth/event-store';
import { jsonEvent, type EventStoreDBClient } from '@eventstore/db-client';

/** Appends one event, each worker to its own stream. */
export type Append = (worker: number) => Promise<unknown>;

/** A call with its own credentials is a unary append, like in the event store port. */
const CREDENTIALS = { username: 'bench', password: 'bench' };

export const newEvent = (): NewEvent => ({
  id: randomUUID(),
  type: 'AgentStarted',
  data: {
    at: new Date().toISOString(),
    epoch: 7,
    guest: { version: '1.0.0', capabilities: ['exec', 'exec.detached', 'files', 'chat'] },
  },
  metadata: {
    correlationId: 'req_01jd0000000000000000000000',
    causationId: 'cmd_01jd0000000000000000000000',
    accountId: 'acc_01jd0000000000000000000000',
    actor: { kind: 'key', id: 'key_01jd0000000000000000000000' },
  },
});

/** Returns the stream of each worker. A later round continues at the current revisions of the streams. */
const streamsOf = (category: string): ((worker: number) => { name: string; at: bigint | 'no_stream' }) => {
  const streams = new Map<number, { name: string; at: bigint | 'no_stream' }>();
  return (worker) => {
    const existing = streams.get(worker);
    if (existing !== undefined) return existing;
    const stream = { name: `${category}-${randomUUID()}`, at: 'no_stream' } as const;
    streams.set(worker, stream);
    return stream;
  };
};

export const throughPort = (store: EventStore): Append => {
  const streamOf = streamsOf('benchPort');
  return async (worker) => {
    const stream = streamOf(worker);
    const { revision } = await store.append(stream.name, [newEvent()], stream.at);
    stream.at = revision;
  };
};

export const throughClient = (client: EventStoreDBClient): Append => {
  const streamOf = streamsOf('benchBare');
  return async (worker) => {
    const stream = streamOf(worker);
    const { id, type, data, metadata } = newEvent();
    const event = jsonEvent({ id, type, data: { ...data }, metadata: { ...metadata } });
    const options = { expectedRevision: stream.at, credentials: CREDENTIALS };
    stream.at = (await client.appendToStream(stream.name, [event], options)).nextExpectedRevision;
  };
};
