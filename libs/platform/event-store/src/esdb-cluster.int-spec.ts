import { EventStoreCluster, eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newEvent, newStream, outcomeOf, quietLog, record } from './fixtures/store-fixture.js';
import { connectEventStore, type EventStore } from './index.js';

let cluster: EventStoreCluster;
let store: EventStore;

beforeEach(async () => {
  cluster = await EventStoreCluster.start();
  store = connectEventStore({ url: cluster.url, log: quietLog });
});

afterEach(async () => {
  cluster.heal();
  await store.close();
  await cluster.stop();
});

const append = async (n: number): Promise<void> => {
  await store.append(newStream('agent'), [newEvent({ n })], 'no_stream');
};

/** Milliseconds until the first append is acknowledged; each failing attempt must fail within 5 s. */
const untilAppended = async (n: number): Promise<number> => {
  const began = performance.now();
  const event = newEvent({ n });
  const stream = newStream('agent');
  await eventually(
    async () => {
      const { failure, millis } = await outcomeOf(store.append(stream, [event], 'no_stream'));
      expect(millis).toBeLessThan(5_000);
      expect(failure).toBeUndefined();
    },
    { timeoutMs: 25_000 },
  );
  return performance.now() - began;
};

/** Uses both connections, so that they are open. */
const warmUp = async (): Promise<ReturnType<typeof record>> => {
  await append(0);
  const received = record(store, { from: 'start', categories: ['agent'] });
  await eventually(() => received.numbers().includes(0));
  return received;
};

describe('in a cluster', () => {
  it('every read, append and subscription goes to the leader, also after a change of leader', async () => {
    const received = await warmUp();
    cluster.elect();
    const stream = newStream('agent');
    await store.append(stream, [newEvent({ n: 1 })], 'no_stream');
    expect(await store.read(stream)).toHaveLength(1);
    const head = await store.head();
    expect(await store.eventAt(head ?? -1n)).toMatchObject({ stream });
    const later = record(store, { from: 'start', categories: ['agent'] });
    await eventually(() => later.numbers().includes(1));
    expect(cluster.servedByFollowers).toBe(0);
    await Promise.all([received.stop(), later.stop()]);
  });

  it('subscriptions move to the new leader although their connections stay intact', async () => {
    const received = await warmUp();
    const before = cluster.leaderProxy;
    cluster.elect();
    await eventually(() => before.connections === 0, { timeoutMs: 20_000 });
    await append(1);
    await eventually(() => received.numbers().includes(1));
    expect(received.numbers()).toEqual([0, 1]);
    await received.stop();
  });

  it('subscriptions continue on the new leader when the old one dies, and calls in between wait instead of failing', async () => {
    const received = await warmUp();
    cluster.leaderProxy.cut({ refuse: true });
    const waiting = Promise.all([append(1), store.read('agent-none'), store.head()]);
    cluster.elect(undefined, { before: 'dead' });
    await waiting;
    await eventually(() => received.numbers().includes(1), { timeoutMs: 10_000 });
    expect(received.numbers()).toEqual([0, 1]);
    await received.stop();
  });

  it('calls and subscriptions use the new leader while the old one stays frozen', async () => {
    await store.close();
    // The keepalive must not detect it, because it reconnects to the frozen node.
    store = connectEventStore({ url: `${cluster.url}&keepAliveInterval=-1`, log: quietLog });
    const received = await warmUp();
    cluster.leaderProxy.freeze();
    const early = outcomeOf(store.read('agent-none'));
    await expect(store.ping()).rejects.toMatchObject({ kind: 'unavailable' });
    cluster.elect(undefined, { before: 'dead' });
    expect(await untilAppended(1)).toBeLessThan(12_000);
    expect((await early).millis).toBeLessThan(5_000);
    await eventually(() => received.numbers().includes(1), { timeoutMs: 20_000 });
    expect(received.numbers()).toEqual([0, 1]);
    await store.ping();
    await received.stop();
  });

  it('connections are kept while the leader responds later than callers wait, because no other node leads', async () => {
    const received = await warmUp();
    const { accepted, connections } = cluster.leaderProxy;
    cluster.leaderProxy.slow(3_000);
    const outcomes = Array.from({ length: 20 }, (_, n) => outcomeOf(append(n + 1)));
    for (const { millis } of await Promise.all(outcomes)) expect(millis).toBeLessThan(5_000);
    cluster.heal();
    await eventually(() => received.numbers().length === 21, { timeoutMs: 15_000 });
    expect(cluster.leaderProxy.openOfFirst(accepted)).toBe(connections);
    await received.stop();
  });

  it('the leader is found although nodes of the URL are down or frozen at the start', async () => {
    const [, down, frozen] = cluster.nodes;
    down?.cut({ refuse: true });
    frozen?.freeze();
    await append(1);
    expect(await store.head()).not.toBeNull();
  });

  it('the leader is found once it can be reached, although earlier calls failed', async () => {
    for (const node of cluster.nodes) node.cut({ refuse: true });
    const first = await outcomeOf(append(1));
    expect(first.failure).toMatchObject({ kind: 'unavailable' });
    expect(first.millis).toBeLessThan(5_000);
    cluster.heal();
    await untilAppended(2);
    const received = record(store, { from: 'start', categories: ['agent'] });
    await eventually(() => received.numbers().includes(2), { timeoutMs: 10_000 });
    await received.stop();
  });

  it('the leader is also found with esdb+discover and several nodes of which the first is down', async () => {
    cluster.elect(1, { before: 'dead' });
    cluster.node(0).cut({ refuse: true });
    const discovering = connectEventStore({
      url: cluster.url.replace('esdb:', 'esdb+discover:'),
      log: quietLog,
    });
    await discovering.append(newStream('agent'), [newEvent()], 'no_stream');
    await discovering.close();
  });

  it('the number of connections stays constant over ten changes of leader', async () => {
    const received = await warmUp();
    for (let n = 1; n <= 10; n++) {
      const before = cluster.leader;
      if (n % 2 === 0) cluster.leaderProxy.cut({ refuse: true });
      cluster.elect(undefined, { before: n % 2 === 0 ? 'dead' : 'follower' });
      await Promise.all(Array.from({ length: 20 }, () => append(n)));
      cluster.node(before).restore();
    }
    await eventually(() => received.numbers().length === 201, { timeoutMs: 20_000 });
    await eventually(() => expect(cluster.connections).toBeLessThanOrEqual(2), {
      timeoutMs: 20_000,
    });
    await received.stop();
  });
});
