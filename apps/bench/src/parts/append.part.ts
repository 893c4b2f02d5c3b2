import { open, type FileHandle } from 'node:fs/promises';
import { connectEventStore } from '@berth/event-store';
import { EventStoreDBClient } from '@eventstore/db-client';
import { newEvent, throughClient, throughPort, type Append } from '../log/append-event.js';
import { compare } from '../measure/compare.js';
import { repeatedSide } from '../measure/repeated-side.js';
import type { Part, Section } from './part.js';

const PARALLEL = 32;

/** Appends one event to a stream at its exact revision, each worker to its own stream. */
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
        const often = { ...context.effort, concurrency };
        const plan = {
          title: `Append of one event, ${concurrency === 1 ? 'one after the other' : `${concurrency} at a time`}`,
          measure: 'rate',
          ours: repeatedSide('EventStore port', often, throughPort(store)),
          limits: [
            repeatedSide('bare EventStoreDBClient.appendToStream', often, throughClient(client)),
            repeatedSide('write + fdatasync of the same bytes', often, toFile(file)),
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

const toFile =
  (file: FileHandle): Append =>
  async () => {
    await file.write(Buffer.from(JSON.stringify(newEvent())));
    await file.datasync();
  };
