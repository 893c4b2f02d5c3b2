import {
  type AllStreamSubscription,
  type EventStoreDBClient,
  jsonEvent,
  type Position,
  START,
  streamNameFilter,
} from '@eventstore/db-client';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { type EventStoreServer, startEventStoreServer } from './server.js';
import { connect, withDatabaseFile } from './store-process.fixture.js';

const UNSIGNED_MINUS_ONE = 2n ** 64n - 1n;
const WINDOW = 8;

let server: EventStoreServer;
let client: EventStoreDBClient;
let release: () => void;
let finished: Promise<void>;
const open: AllStreamSubscription[] = [];

beforeEach(async () => {
  await new Promise<void>((ready, failed) => {
    finished = withDatabaseFile(async (file) => {
      server = await startEventStoreServer({ file, port: 0 });
      client = connect(server.port);
      await new Promise<void>((resolve) => {
        release = resolve;
        ready();
      });
      await Promise.all(open.splice(0).map((subscription) => subscription.unsubscribe()));
      await client.dispose();
      await server.close();
    });
    finished.catch(failed);
  });
});

afterEach(async () => {
  release();
  await finished;
});

const write = async (stream: string, count: number): Promise<bigint> => {
  const events = Array.from({ length: count }, () => jsonEvent({ type: 'T', data: {} }));
  const { position } = await client.appendToStream(stream, events);
  return position?.commit ?? 0n;
};

/** What a subscription receives, in order: positions of events and checkpoints, and `caughtUp`. */
const subscribeTo = (prefix: string, fromPosition: Position | typeof START = START): string[] => {
  const received: string[] = [];
  const filter = streamNameFilter({
    prefixes: [prefix],
    maxSearchWindow: WINDOW,
    checkpointInterval: 1,
    checkpointReached: (_subscription, { commit }) => void received.push(`checkpoint ${commit}`),
  });
  const subscription = client.subscribeToAll({ fromPosition, filter });
  open.push(subscription);
  subscription.on('data', ({ event }) => void received.push(`event ${event?.position.commit}`));
  subscription.on('caughtUp', () => void received.push('caughtUp'));
  return received;
};

const eventuallyEquals = (received: string[], expected: string[]): Promise<void> =>
  vi.waitFor(() => expect(received).toEqual(expected), { timeout: 5_000, interval: 5 });

describe('a filtered subscription', () => {
  it('from the start that matches nothing in a short log gets the checkpoint 2^64 - 1, and no other after it', async () => {
    await write('other', 3);
    const received = subscribeTo('wanted-');
    await eventuallyEquals(received, [`checkpoint ${UNSIGNED_MINUS_ONE}`, 'caughtUp']);
    await write('other', WINDOW * 3);
    const position = await write('wanted-1', 1);
    await eventuallyEquals(received, [`checkpoint ${UNSIGNED_MINUS_ONE}`, 'caughtUp', `event ${position}`]);
  });

  it('gets it on an empty log too, because the log of EventStoreDB is never empty', async () => {
    await eventuallyEquals(subscribeTo('wanted-'), [`checkpoint ${UNSIGNED_MINUS_ONE}`, 'caughtUp']);
  });

  it('that matched an event gets a checkpoint there when it catches up, not at the head', async () => {
    const position = await write('wanted-1', 1);
    await write('other', 3);
    await eventuallyEquals(subscribeTo('wanted-'), [
      `event ${position}`,
      `checkpoint ${position}`,
      'caughtUp',
    ]);
  });

  it('catching up gets one checkpoint for each window after the first, and only "caught up" at the head', async () => {
    await write('other', WINDOW * 3 + 2);
    await eventuallyEquals(subscribeTo('wanted-'), [
      'checkpoint 0',
      `checkpoint ${WINDOW + 1}`,
      `checkpoint ${WINDOW * 2 + 1}`,
      'caughtUp',
    ]);
  });

  it('from the head has caught up immediately, and then gets one checkpoint for each window', async () => {
    const commit = await write('other', 3);
    const received = subscribeTo('wanted-', { commit, prepare: commit });
    await eventuallyEquals(received, ['caughtUp']);
    await write('other', WINDOW - 1);
    const match = await write('wanted-1', 1);
    await write('other', WINDOW - 1);
    const last = await write('other', 1);
    await write('other', WINDOW - 1);
    const end = await write('wanted-1', 1);
    await eventuallyEquals(received, [
      'caughtUp',
      `event ${match}`,
      `checkpoint ${match}`,
      `checkpoint ${last}`,
      `event ${end}`,
      `checkpoint ${end}`,
    ]);
  });
});
