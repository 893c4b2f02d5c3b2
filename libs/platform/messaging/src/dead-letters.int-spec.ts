import { eventually, type TestInfra } from '@berth/testing';
import { jetstreamManager } from '@nats-io/jetstream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ConsumerRound, noteEffect, PATIENTLY, STREAM } from './__fixtures__/consumer-round.fixture.js';
import type { EventConsumerOptions } from './index.js';
import { ensureMessagingTables } from './messaging-tables.js';

describe('a dead letter', () => {
  let infra: TestInfra;
  let round: ConsumerRound;
  let rounds = 0;
  let broken: boolean;

  beforeAll(async () => {
    infra = await ConsumerRound.infra();
  });
  beforeEach(async () => {
    broken = true;
    round = await ConsumerRound.start(infra, ++rounds);
  });
  afterEach(() => round.stop());
  afterAll(() => infra.stop());

  const handle: EventConsumerOptions['handle'] = async (event, tx) => {
    if (broken) throw new Error(`Cannot handle ${event.delivery}.`);
    await noteEffect(event, tx);
  };

  /** Dead-letters `count` events and returns their ids. */
  const deadLetter = async (count: number): Promise<readonly string[]> => {
    round.relay();
    round.consume({ handle, maxDeliveries: 2 });
    await round.append(count);
    await eventually(async () => expect(await round.letters()).toHaveLength(count), PATIENTLY);
    return round.appended;
  };

  it('is handled once by concurrent replays on several instances, and then removed', async () => {
    const [id = ''] = await deadLetter(1);
    broken = false;
    const instances = [round.consumer({ handle }), round.consumer({ handle }), round.consumer({ handle })];
    await Promise.all(instances.flatMap((one) => [one.replay(id), one.replay(id)]));
    expect(await round.effects()).toEqual([id]);
    expect(await round.letters()).toEqual([]);
    await expect(round.consumer({ handle }).replay(id)).resolves.toBe('unknown');
    expect(await round.effects()).toEqual([id]);
  });

  it('that was handled but could not be removed is removed by the next replay without being handled again', async () => {
    const [id = ''] = await deadLetter(1);
    broken = false;
    await round.database.query(`UPDATE event_inbox SET outcome = 'done' WHERE event_id = $1`, [id]);
    await expect(round.consumer({ handle }).replay(id)).resolves.toBe('handled');
    expect(await round.effects()).toEqual([]);
    expect(await round.letters()).toEqual([]);
  });

  it('is handled although the floor of the consumer is past it', async () => {
    const [id = ''] = await deadLetter(1);
    await round.database.query(
      `INSERT INTO event_consumer (durable, floor_position) VALUES ('effects', 1000000000)
       ON CONFLICT (durable) DO UPDATE SET floor_position = excluded.floor_position`,
    );
    broken = false;
    await expect(round.consumer({ handle }).replay(id)).resolves.toBe('handled');
    expect(await round.effects()).toEqual([id]);
  });

  it('that fails again remains a single letter with the latest reason, and without effect', async () => {
    const [id = ''] = await deadLetter(1);
    await expect(round.consumer({ handle }).replay(id)).resolves.toBe('failed');
    expect(await round.letters()).toMatchObject([
      { eventId: id, deliveries: 3, reason: 'Error: Cannot handle 3.' },
    ]);
    expect(await round.effects()).toEqual([]);
    broken = false;
    await expect(round.consumer({ handle }).replay(id)).resolves.toBe('handled');
    expect(await round.effects()).toEqual([id]);
  });

  it('keeps its reason when its event is redelivered because the dead letter could not be recorded in the inbox', async () => {
    const { database, link, lines } = round;
    await ensureMessagingTables(database);
    await database.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'Dead letter refused.'; END $$`,
    );
    await database.query(
      `CREATE TRIGGER refuse BEFORE INSERT ON event_inbox FOR EACH ROW WHEN (NEW.outcome = 'dead')
       EXECUTE FUNCTION refuse()`,
    );
    await deadLetter(1);
    await eventually(
      () => expect(lines.some((line) => line.includes('Dead letter refused.'))).toBe(true),
      PATIENTLY,
    );
    await database.query('DROP TRIGGER refuse ON event_inbox');
    // The broker otherwise waits for seconds before it delivers the event again.
    const { consumers } = await jetstreamManager(link.connection);
    await consumers.update(STREAM, 'effects', { ack_wait: 100_000_000 });
    await eventually(
      async () =>
        expect(await database.query('SELECT outcome FROM event_inbox')).toEqual([{ outcome: 'dead' }]),
      PATIENTLY,
    );
    expect(await round.letters()).toMatchObject([{ reason: 'Error: Cannot handle 2.' }]);
  });

  it('that is deleted leaves the other letters in place and its event unhandled', async () => {
    const [first = '', second = ''] = await deadLetter(2);
    const letters = await round.consumer().deadLetters();
    await expect(letters.count()).resolves.toBe(2);
    await expect(letters.remove(first)).resolves.toBe(true);
    await expect(letters.remove(first)).resolves.toBe(false);
    await expect(letters.count()).resolves.toBe(1);
    expect((await letters.list()).map(({ eventId }) => eventId)).toEqual([second]);
    broken = false;
    await expect(round.consumer({ handle }).replay(first)).resolves.toBe('unknown');
    expect(await round.effects()).toEqual([]);
  });
});
