import { jetstream } from '@nats-io/jetstream';
import { eventually, type TestInfra } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { agentStarted } from './__fixtures__/agent-events.fixture.js';
import { ConsumerRound, noteEffect, PATIENTLY, STREAM } from './__fixtures__/consumer-round.fixture.js';
import type { ReceivedEvent } from './index.js';

describe('an event consumer', () => {
  let infra: TestInfra;
  let round: ConsumerRound;
  let rounds = 0;

  beforeAll(async () => {
    infra = await ConsumerRound.infra();
  });
  beforeEach(async () => {
    round = await ConsumerRound.start(infra, ++rounds);
  });
  afterEach(() => round.stop());
  afterAll(() => infra.stop());

  it('handles earlier and later events that match its filters, in order', async () => {
    round.relay();
    await round.append(5);
    await round.store.append(
      `agent-${round.prefix}stopped`,
      [agentStarted('stopped', 'AgentStopped')],
      'no_stream',
    );
    const seen: ReceivedEvent[] = [];
    round.consume({ handle: (event, tx) => (seen.push(event), noteEffect(event, tx)) });
    await round.append(5);
    await round.allDoneOnce();
    expect(seen.map(({ id }) => id)).toEqual(round.appended);
    expect(seen[0]).toMatchObject({
      name: 'started',
      accountId: 'acc_1',
      context: 'agents',
      version: 1,
      delivery: 1,
    });
    expect(seen[0]?.subjectId).toBe(`${round.prefix}0x0`);
  });

  it('accepts several filters', async () => {
    round.relay();
    const names: string[] = [];
    round.consume({
      filterSubjects: ['evt.agents.started.v1.*.*', 'evt.agents.stopped.v1.*.*'],
      handle: (event) => Promise.resolve(void names.push(event.name)),
    });
    await round.append(1);
    await round.store.append(`agent-${round.prefix}s`, [agentStarted('s', 'AgentStopped')], 'no_stream');
    await eventually(() => expect(names.sort()).toEqual(['started', 'stopped']), PATIENTLY);
  });

  it('rolls a failed effect back and retries it until it succeeds once', async () => {
    round.relay();
    let failures = 0;
    round.consume({
      handle: async (event, tx) => {
        await noteEffect(event, tx);
        if (failures++ < 3) throw new Error('not yet');
      },
    });
    await round.append(1);
    await round.allDoneOnce();
    expect(failures).toBe(4);
  });

  it('changes nothing on a second delivery', async () => {
    round.relay();
    const stop = round.consume();
    await round.append(3);
    await round.allDoneOnce();
    await stop();
    // The broker forgets the acknowledgements and delivers everything again.
    await round.broker.consumers.delete(STREAM, 'effects');
    await round.database.query('DELETE FROM event_consumer');
    round.consume();
    await round.append(1);
    await round.allDoneOnce();
  });

  it('shares the work with its other instances and handles each event once', async () => {
    round.relay();
    round.consume();
    round.consume();
    await round.append(40);
    await round.allDoneOnce();
  });

  it('handles within 10 s what a process had received when it was killed, also if an earlier release created the durable', async () => {
    round.relay();
    const stop = round.consume();
    await round.append(1);
    await round.allDoneOnce();
    await stop();
    await round.broker.consumers.update(STREAM, 'effects', { ack_wait: 30_000_000_000 });
    await round.append(2);
    const killed = await jetstream(round.link.connection).consumers.get(STREAM, 'effects');
    for (const _ of [1, 2]) expect(await killed.next({ expires: 20_000 })).not.toBeNull();
    round.consume();
    await round.allDoneOnce(10_000);
  });

  it('moves an event that keeps failing to the dead letters with its reason, and continues', async () => {
    round.relay();
    let tries = 0;
    round.consume({
      handle: async (event, tx) => {
        if (event.id === round.appended[0]) {
          tries++;
          throw new Error('cannot: token=hunter2hunter2');
        }
        await noteEffect(event, tx);
      },
      maxDeliveries: 3,
    });
    await round.append(3);
    const [letter] = await eventually(async () => {
      const letters = await round.letters();
      expect(letters).toHaveLength(1);
      return letters;
    }, PATIENTLY);
    expect(letter).toMatchObject({ durable: 'effects', eventId: round.appended[0], deliveries: 3 });
    expect(letter?.reason).toBe('Error: cannot: token=[redacted]');
    expect(letter?.payload).toContain('agentId');
    await eventually(
      async () => expect((await round.effects()).sort()).toEqual(round.appended.slice(1).sort()),
      PATIENTLY,
    );
    expect(tries).toBe(3);
    expect(round.lines.some((line) => line.includes('to the dead letters'))).toBe(true);
    await expect(round.letters({ durable: 'others' })).resolves.toEqual([]);
  });

  it('dead-letters a message that is not an event', async () => {
    round.relay();
    round.consume();
    await round.append(1);
    await round.allDoneOnce();
    round.link.connection.publish('berth.evt.agents.started.v1.acc_1.agt_1', 'not json');
    await eventually(async () => expect(await round.letters()).toHaveLength(1), PATIENTLY);
  });
});
