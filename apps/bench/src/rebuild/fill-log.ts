import { randomUUID } from 'node:crypto';
import { jsonEvent, type EventStoreDBClient } from '@eventstore/db-client';
import { BOAT_CATEGORY } from './boat-list.projection.js';

const AT_A_TIME = 64;
/** The events of one boat: the content of one stream. */
const TYPES = [
  'BoatCreated',
  ...Array.from({ length: 3 }, () => ['BoatStarting', 'BoatStarted', 'BoatFellAsleep']),
].flat();

/** Writes `count` events, rounded up to whole streams. */
export const fillLog = async (client: EventStoreDBClient, count: number): Promise<void> => {
  let left = Math.ceil(count / TYPES.length);
  const worker = async (): Promise<void> => {
    while (left-- > 0) {
      await client.appendToStream(`${BOAT_CATEGORY}-${randomUUID()}`, TYPES.map(newEvent), {
        expectedRevision: 'no_stream',
        credentials: { username: 'bench', password: 'bench' },
      });
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, worker));
};

const newEvent = (type: string, epoch: number): ReturnType<typeof jsonEvent> =>
  jsonEvent({
    id: randomUUID(),
    type,
    data: {
      name: `boat ${randomUUID()}`,
      epoch,
      at: new Date().toISOString(),
      host: 'host-1',
      cause: 'wake',
    },
    metadata: {
      correlationId: 'req_01jd0000000000000000000000',
      causationId: `cmd_${randomUUID()}`,
      accountId: 'acc_01jd0000000000000000000000',
      actor: { kind: 'key', id: 'key_01jd0000000000000000000000' },
    },
  });
