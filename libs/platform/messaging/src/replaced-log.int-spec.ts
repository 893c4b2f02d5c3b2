import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConsumerRound, PATIENTLY, STREAM } from './__fixtures__/consumer-round.fixture.js';
import { OwnLog } from './__fixtures__/own-log.fixture.js';
import type { EventConsumerOptions } from './index.js';

/*
 * A relay must publish and a consumer must handle every event of the log, even if the streams hold events of another
 * log.
 */
describe('streams of an earlier log', () => {
  let infra: TestInfra;
  let log: OwnLog;
  let round: ConsumerRound;
  let rounds = 100;
  let forgotten: (bigint | null)[];
  let stops: (() => Promise<void>)[];
  let linesBefore: number;

  beforeAll(async () => {
    infra = await startTestInfra({ parts: ['postgres'] });
  });
  beforeEach(async () => {
    log = await OwnLog.start();
    round = await ConsumerRound.start({ databaseUrl: infra.databaseUrl, eventStoreUrl: log.url }, ++rounds);
    forgotten = [];
    stops = [];
    linesBefore = round.lines.length;
  });
  afterEach(async () => {
    await round.stop();
    await log.stop();
  });
  afterAll(() => infra.stop());

  const start = (options: Partial<EventConsumerOptions> = {}): void => {
    const forgetAfter: EventConsumerOptions['forgetAfter'] = (position) => {
      forgotten.push(position);
      return Promise.resolve();
    };
    stops.push(round.relay(), round.consume({ forgetAfter, ...options }));
  };

  const stop = async (): Promise<void> => {
    await Promise.all(stops.splice(0).map((one) => one()));
  };

  const published = (): Promise<void> =>
    eventually(async () => expect(await round.broker.ids(STREAM)).toEqual(round.appended), PATIENTLY);

  /** Waits until everything is handled, and stops; the consumer then stores its floor, which this returns. */
  const handledAndStopped = async (): Promise<bigint> => {
    await round.allDoneOnce();
    await eventually(async () => {
      const { ack_floor } = await round.broker.consumers.info(STREAM, 'effects');
      expect(ack_floor.stream_seq).toBe((await round.broker.streams.info(STREAM)).state.last_seq);
    }, PATIENTLY);
    await stop();
    const [row] = await round.database.query<{ floor_position: string }>(
      'SELECT floor_position FROM event_consumer',
    );
    return BigInt(row?.floor_position ?? -1);
  };

  const logged = (text: string): boolean =>
    round.lines.slice(linesBefore).some((line) => line.includes(text));

  it.each(['kept', 'new'] as const)(
    'are emptied, so that each event of a fresh log is published and handled once, with a %s database',
    async (database) => {
      start();
      await round.append(6);
      expect(await handledAndStopped()).toBeGreaterThan(0n);
      await log.replace();
      const before = round.appended.splice(0);
      if (database === 'new')
        await round.database.query('DROP TABLE event_relay, event_consumer, event_inbox');
      await round.append(3);
      start();
      await published();
      await eventually(
        async () => expect(await round.effects()).toEqual([...before, ...round.appended].sort()),
        PATIENTLY,
      );
      expect(logged('The stream holds events that the log does not have')).toBe(true);
      expect(forgotten).toEqual(database === 'kept' ? [null] : []);
    },
  );

  it('are compared by events, not by positions: a longer fresh log is recognised too', async () => {
    start();
    await round.append(2);
    await handledAndStopped();
    await log.replace();
    const before = round.appended.splice(0);
    await round.append(9);
    start();
    await published();
    await eventually(
      async () => expect(await round.effects()).toEqual([...before, ...round.appended].sort()),
      PATIENTLY,
    );
  });

  it('lose the tail that a restored log does not have; events that both logs have are not handled again', async () => {
    start();
    await round.append(4);
    await round.allDoneOnce();
    await log.backUp();
    await round.append(3);
    const floor = await handledAndStopped();
    await log.restore();
    const lost = round.appended.splice(4);
    await round.append(5);
    start();
    await published();
    await eventually(
      async () => expect(await round.effects()).toEqual([...lost, ...round.appended].sort()),
      PATIENTLY,
    );
    const [common, ...others] = forgotten;
    expect(others).toEqual([]);
    expect(common).toEqual(expect.any(BigInt));
    expect(common ?? floor).toBeLessThan(floor);
  });

  it('are detected by a running relay and consumer', async () => {
    start();
    await round.append(4);
    await round.allDoneOnce();
    await log.replace();
    const before = round.appended.splice(0);
    await eventually(() => round.store.ping(), PATIENTLY);
    await round.append(2);
    await eventually(async () => expect(await round.broker.ids(STREAM)).toEqual(round.appended), {
      timeoutMs: 40_000,
    });
    await eventually(
      async () => expect(await round.effects()).toEqual([...before, ...round.appended].sort()),
      PATIENTLY,
    );
  });

  it('deliver nothing to a new consumer before they are emptied', async () => {
    const stopRelay = round.relay();
    await round.append(3);
    await published();
    await stopRelay();
    await log.replace();
    round.appended.splice(0);
    const seen: string[] = [];
    start({ durable: 'young', handle: async ({ id }) => void seen.push(await Promise.resolve(id)) });
    await round.append(2);
    await eventually(() => expect(seen).toEqual(round.appended), PATIENTLY);
  });

  it('are kept unchanged across restarts when the log is the same', async () => {
    start();
    await round.append(4);
    await handledAndStopped();
    await log.pause();
    await log.resume();
    await eventually(() => round.append(2), PATIENTLY);
    start();
    await published();
    await round.allDoneOnce();
    const { state } = await round.broker.streams.info(STREAM);
    expect([state.first_seq, state.last_seq]).toEqual([1, 6]);
    expect(forgotten).toEqual([]);
  });
});
