import { randomUUID } from 'node:crypto';
import { open, type FileHandle } from 'node:fs/promises';
import { connectEventStore, type EventStore, type NewEvent } from '@berth/event-store';
import { EventStoreDBClient, jsonEvent } from '@eventstore/db-client';
import type { Effort } from '../context.js';
import { compare, type Side } from '../measure/compare.js';
import { repeatFor } from '../measure/loops.js';
import type { Part, Section } from './part.js';

const PARALLEL = 32;
/** A call with credentials of its own is a unary append, as the port makes it. */
const CREDENTIALS = { username: 'bench', password: 'bench' };

/** One event onto a stream at its exact revision, each worker on a stream of its own. */
export const appendPart: Part = {
  name: 'append',
  async run(context) {
    const { eventStoreUrl } = await context.infrastructure();
    const store = connectEventStore({ url: eventStoreUrl, log: context.log });
    const client = EventStoreDBClient.connectionString(eventStoreUrl);
    const file = await open(context.file('append.bin'), 'a');
    try {
      const sections: Section[] = [];
      for (const concurrency of [1, PARALLEL]) {
        const plan = {
          title: `Append of one event, ${concurrency === 1 ? 'one after the other' : `${concurrency} at a time`}`,
          measure: 'rate',
          ours: side('EventStore port', concurrency, context.effort, throughPort(store)),
          limits: [
            side(
              'bare EventStoreDBClient.appendToStream',
              concurrency,
              context.effort,
              throughClient(client),
            ),
            side('write + fdatasync of the same bytes', concurrency, context.effort, toFile(file)),
          ],
        } as const;
        sections.push(await compare(plan, context.effort.rounds));
      }
      return sections;
    } finally {
      await file.close();
      await store.close();
      await client.dispose();
    }
  },
};

type Append = (worker: number) => Promise<unknown>;

const side = (name: string, concurrency: number, effort: Effort, append: Append): Side => ({
  name,
  warmUp: () => repeatFor(effort.warmUpMs, concurrency, append),
  round: () => repeatFor(effort.roundMs, concurrency, append),
});

const newEvent = (): NewEvent => ({
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

/** Streams by worker; a side that goes on later goes on where its streams stand. */
const streamsOf = (category: string): ((worker: number) => { name: string; at: bigint | 'no_stream' }) => {
  const streams = new Map<number, { name: string; at: bigint | 'no_stream' }>();
  return (worker) => {
    const known = streams.get(worker);
    if (known !== undefined) return known;
    const stream = { name: `${category}-${randomUUID()}`, at: 'no_stream' } as const;
    streams.set(worker, stream);
    return stream;
  };
};

const throughPort = (store: EventStore): Append => {
  const streamOf = streamsOf('benchPort');
  return async (worker) => {
    const stream = streamOf(worker);
    const { revision } = await store.append(stream.name, [newEvent()], stream.at);
    stream.at = revision;
  };
};

const throughClient = (client: EventStoreDBClient): Append => {
  const streamOf = streamsOf('benchBare');
  return async (worker) => {
    const stream = streamOf(worker);
    const { id, type, data, metadata } = newEvent();
    const event = jsonEvent({ id, type, data: { ...data }, metadata: { ...metadata } });
    const options = { expectedRevision: stream.at, credentials: CREDENTIALS };
    stream.at = (await client.appendToStream(stream.name, [event], options)).nextExpectedRevision;
  };
};

const toFile =
  (file: FileHandle): Append =>
  async () => {
    await file.write(Buffer.from(JSON.stringify(newEvent())));
    await file.datasync();
  };
