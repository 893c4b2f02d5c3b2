import { cp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { eventually, type TestInfra } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { EventConsumerOptions } from './event-consumer-options.js';
import { appendAgents } from './__fixtures__/agent-events.fixture.js';
import { ConsumerRound, noteEffect, PATIENTLY, STREAM } from './__fixtures__/consumer-round.fixture.js';

/** The broker's error code. */
const CONSUMER_NOT_FOUND = 10_014;

describe('an event consumer, when something is lost,', () => {
  let infra: TestInfra;
  let round: ConsumerRound;
  let rounds = 0;

  beforeAll(async () => {
    infra = await ConsumerRound.infra(['postgres']);
  });
  beforeEach(async () => {
    round = await ConsumerRound.start(infra, ++rounds);
  });
  afterEach(() => round.stop());
  afterAll(() => infra.stop());

  it('waits for its database without using up deliveries', async () => {
    round.relay();
    const deliveries: number[] = [];
    round.consume({
      maxDeliveries: 2,
      handle: (event, tx) => (deliveries.push(event.delivery), noteEffect(event, tx)),
    });
    await round.append(1);
    await round.allDoneOnce();
    infra.part('postgres').kill();
    await round.append(2);
    await eventually(() => round.database.ping(), PATIENTLY);
    await round.allDoneOnce();
    await expect(round.letters()).resolves.toEqual([]);
  });

  it('handles every event once although the broker came back with an empty store', async () => {
    round.relay();
    round.consume();
    await round.append(5);
    await round.allDoneOnce();
    await round.nats.kill();
    await round.nats.wipe();
    await round.nats.resume();
    await round.append(3);
    await round.allDoneOnce();
  });

  it.each(['relay', 'consumer'] as const)(
    'handles every event once when the broker lost the tail of the stream but not the progress of the consumer, if the %s starts first',
    async (first) => {
      const stopRelay = round.relay();
      const stop = round.consume();
      await round.append(3);
      await round.allDoneOnce();
      const messages = join(round.nats.store, 'jetstream', '$G', 'streams', STREAM, 'msgs');
      const saved = join(round.nats.store, 'saved');
      await round.nats.kill('SIGTERM');
      await cp(messages, saved, { recursive: true });
      await round.nats.resume();
      await round.append(3);
      await round.allDoneOnce();
      await eventually(async () =>
        expect((await round.broker.consumers.info(STREAM, 'effects')).ack_floor.stream_seq).toBe(6),
      );
      await Promise.all([stop(), stopRelay()]);
      await round.nats.kill('SIGTERM');
      await rm(messages, { recursive: true });
      await cp(saved, messages, { recursive: true });
      await round.nats.resume();
      await eventually(() => round.link.connected);
      const damaged = await round.broker.consumers.info(STREAM, 'effects');
      expect(damaged.ack_floor.stream_seq).toBe(6);
      expect((await round.broker.streams.info(STREAM)).state.last_seq).toBe(3);
      if (first === 'relay') {
        round.relay();
        await eventually(
          async () => expect(await round.broker.ids(STREAM)).toEqual(round.appended),
          PATIENTLY,
        );
        await expect(round.broker.consumers.info(STREAM, 'effects')).rejects.toMatchObject({
          code: CONSUMER_NOT_FOUND,
        });
        round.consume();
      } else {
        round.consume();
        await eventually(async () => {
          expect((await round.broker.consumers.info(STREAM, 'effects')).created).not.toBe(damaged.created);
        }, PATIENTLY);
        round.relay();
      }
      await round.append(2);
      await round.allDoneOnce();
      expect(await round.broker.ids(STREAM)).toEqual(round.appended);
    },
  );

  it.each([
    { what: 'of a stopped consumer, if its relay is', durable: 'kept', relay: 'stopped' },
    { what: 'of a stopped consumer that is gone, if its relay is', durable: 'gone', relay: 'running' },
  ] as const)(
    'handles every event once when the broker dropped what it needs, $what $relay',
    async (lost) => {
      const stopRelay = round.relay();
      const stop = round.consume();
      const handled = new Map<string, string[]>([
        ['effects', []],
        ['others', []],
      ]);
      const noting = (durable: string): Partial<EventConsumerOptions> => ({
        durable,
        handle: async (event, tx) => {
          handled.get(durable)?.push(event.id);
          if (durable === 'effects') await noteEffect(event, tx);
        },
      });
      const acknowledged = (durable: string): Promise<void> =>
        eventually(async () => {
          const { ack_floor } = await round.broker.consumers.info(STREAM, durable);
          expect(ack_floor.stream_seq).toBe(round.appended.length);
        }, PATIENTLY);
      const stopOthers = round.consume(noting('others'));
      await round.append(3);
      await acknowledged('effects');
      await stop();
      // The relay publishes nothing of these.
      await appendAgents(round.store, `private-${lost.relay}`, 2);
      await round.append(5);
      await acknowledged('others');
      await stopOthers();
      if (lost.relay === 'stopped') await stopRelay();
      const before = await round.broker.consumers.info(STREAM, 'effects');
      const last = await round.broker.streams.getMessage(STREAM, { seq: 3 });
      if (lost.durable === 'gone') await round.broker.consumers.delete(STREAM, 'effects');
      await round.broker.streams.purge(STREAM, { seq: 7 });
      round.consume(noting('effects'));
      round.consume(noting('others'));
      if (lost.relay === 'stopped') {
        await eventually(async () => {
          expect((await round.broker.consumers.info(STREAM, 'effects')).created).not.toBe(before.created);
        }, PATIENTLY);
        round.relay();
      }
      await round.allDoneOnce();
      await round.append(2);
      await round.allDoneOnce();
      await eventually(() => expect(handled.get('others')).toEqual(round.appended), PATIENTLY);
      // In the order of the log, and published again only from the first missing one on.
      expect(handled.get('effects')).toEqual(round.appended.slice(3));
      expect(await round.broker.ids(STREAM)).toEqual(round.appended.slice(3));
      // So no consumer finds another gap.
      const { first_seq: seq } = (await round.broker.streams.info(STREAM)).state;
      const first = await round.broker.streams.getMessage(STREAM, { seq });
      expect(first?.header.get('Berth-Follows')).toBe(last?.header.get('Berth-Position'));
    },
  );

  it('notices while it runs that the broker dropped what it has not handled', async () => {
    round.relay();
    const gate = Promise.withResolvers<undefined>();
    let isFirst = true;
    round.consume({
      handle: async (event, tx) => {
        if (isFirst) {
          isFirst = false;
          await gate.promise;
        }
        await noteEffect(event, tx);
      },
    });
    await round.append(200);
    await eventually(async () => expect(await round.broker.ids(STREAM)).toEqual(round.appended), PATIENTLY);
    await eventually(() => expect(isFirst).toBe(false));
    await round.broker.streams.purge(STREAM, { seq: 190 });
    gate.resolve(undefined);
    await round.allDoneOnce(60_000);
  });

  it('handles every event once when the stream or the consumer is deleted', async () => {
    round.relay();
    round.consume();
    await round.append(3);
    await round.allDoneOnce();
    await round.broker.consumers.delete(STREAM, 'effects');
    await round.append(2);
    await round.allDoneOnce();
    await round.broker.streams.delete(STREAM);
    await round.append(2);
    await round.allDoneOnce();
  });
});
