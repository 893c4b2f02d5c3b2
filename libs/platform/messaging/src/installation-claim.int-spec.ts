import { randomUUID } from 'node:crypto';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Broker } from './__fixtures__/broker.fixture.js';
import { keepingLogger } from './__fixtures__/lines.fixture.js';
import { NatsServerFixture } from './__fixtures__/nats-server.fixture.js';
import { InstallationClaim, InstanceTaken, NatsLink } from './index.js';

const { log, lines } = keepingLogger();
const SILENT_MS = 2_000;
const OURS = randomUUID();
const THEIRS = randomUUID();
const cleanUps: (() => Promise<unknown>)[] = [];
let nats: NatsServerFixture;

beforeEach(async () => {
  nats = await NatsServerFixture.start();
});

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  await nats.stop();
});

/** Starts one process of the installation with that log; returns its link. */
const process = async (logId: string, instance = 'berth', refreshEveryMs = 300): Promise<NatsLink> => {
  const link = await NatsLink.open({ url: nats.url, name: 'process', instance, log });
  cleanUps.push(() => link.close());
  await InstallationClaim.take({ link, logId, log, silentMs: SILENT_MS, refreshEveryMs });
  return link;
};

const NEVER_MS = 3_600_000;

describe('the name of an installation', () => {
  it('is shared by all processes of one event log', async () => {
    await Promise.all(Array.from({ length: 6 }, () => process(OURS)));
  });

  it('is refused to an installation with another log for as long as one process lives', async () => {
    const first = await process(OURS);
    await process(OURS);
    await expect(process(THEIRS)).rejects.toThrow(InstanceTaken);
    await first.close();
    // Longer than a silent claim lasts: it is refreshed.
    const until = Date.now() + 1.5 * SILENT_MS;
    await eventually(
      async () => {
        await expect(process(THEIRS)).rejects.toThrow(InstanceTaken);
        expect(Date.now()).toBeGreaterThan(until);
      },
      { timeoutMs: 3 * SILENT_MS },
    );
  });

  it('is taken by all processes that start together on a broker without its stream', async () => {
    for (let round = 0; round < 150; round++) {
      const links = await Promise.all([1, 2, 3].map(() => process(OURS, `new${round}`)));
      await Promise.all(links.map((link) => link.close()));
    }
  });

  it('is free immediately when the last process has stopped cleanly', async () => {
    const running = await Promise.all([process(OURS), process(OURS)]);
    for (const link of running) await link.close();
    await process(THEIRS);
  });

  it('is free after the time of silence when its processes were killed, and not before', async () => {
    const killed = await process(OURS, 'berth', NEVER_MS);
    const claimedAt = Date.now();
    await killed.connection.close();
    await expect(process(THEIRS)).rejects.toThrow(InstanceTaken);
    await eventually(() => process(THEIRS), { timeoutMs: 3 * SILENT_MS });
    expect(Date.now() - claimedAt).toBeGreaterThanOrEqual(SILENT_MS - 100);
  });

  it('goes to one of two installations that start at the same time', async () => {
    const outcomes = await Promise.allSettled([
      ...Array.from({ length: 5 }, () => process(OURS)),
      ...Array.from({ length: 5 }, () => process(THEIRS)),
    ]);
    const won = outcomes.map(({ status }) => status === 'fulfilled');
    expect(new Set(won.slice(0, 5)).size).toBe(1);
    expect(won.slice(5)).toEqual(won.slice(0, 5).map((one) => !one));
  });

  it('does not conflict with another name on the same broker', async () => {
    await process(OURS, 'one');
    await process(THEIRS, 'two');
  });

  it('is taken again by its owner when the broker has lost everything', async () => {
    await process(OURS);
    await nats.kill();
    await nats.wipe();
    await nats.resume();
    const observer = await NatsLink.open({ url: nats.url, name: 'observer', log });
    cleanUps.push(() => observer.close());
    const broker = await Broker.of(observer);
    await eventually(async () => {
      const { state } = await broker.streams.info('berth_PRESENCE');
      expect(state.messages).toBe(2);
    });
    await expect(process(THEIRS)).rejects.toThrow(InstanceTaken);
  });

  it('that another installation has taken makes the process stop using the broker and log the reason', async () => {
    const asleep = await process(OURS, 'berth', 2 * SILENT_MS);
    await eventually(() => process(THEIRS), { timeoutMs: 3 * SILENT_MS });
    await eventually(() => expect(asleep.connection.isClosed()).toBe(true), { timeoutMs: 3 * SILENT_MS });
    expect(lines.join('\n')).toContain('This one stops using the broker.');
  });
});
