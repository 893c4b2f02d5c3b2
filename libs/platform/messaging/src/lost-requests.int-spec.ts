import { defineRequest } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterEach, describe, expect, it } from 'vitest';
import { keepingLogger } from './__fixtures__/lines.fixture.js';
import { NatsCluster } from './__fixtures__/nats-cluster.fixture.js';
import { NatsServerFixture } from './__fixtures__/nats-server.fixture.js';
import { WaitingProcess } from './__fixtures__/waiting-process.js';
import { BerthNatsServer, NatsLink, Requester } from './index.js';

const { log } = keepingLogger();
const cleanUps: (() => Promise<unknown>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

const open = async (url: string): Promise<NatsLink> => {
  const link = await NatsLink.open({ url, name: 'lost', log });
  cleanUps.push(() => link.close());
  return link;
};

describe('a request that is lost', () => {
  it('in a frozen broker is repeated if that is safe, and reaches another instance', async () => {
    const cluster = await NatsCluster.start(['one', 'two', 'three']);
    cleanUps.push(() => cluster.stop());
    const whoIsThere = defineRequest<null, number>('qry.lost.who-is-there.v1', 20_000);
    for (const index of [1, 2]) {
      const server = new BerthNatsServer({
        link: await open(cluster.server(index).url),
        queue: 'lost',
        log,
      });
      server.addHandler(whoIsThere.subject, () => Promise.resolve(index));
      await server.listen(() => undefined);
      cleanUps.push(() => server.close());
    }
    const requester = new Requester(await open(cluster.server(0).url));
    const seen = new Set<number>();
    await eventually(async () => expect(seen.add(await requester.request(whoIsThere, null)).size).toBe(2), {
      timeoutMs: 15_000,
    });
    await cluster.server(1).freeze();
    const begun = performance.now();
    const responses = await Promise.allSettled(
      Array.from({ length: 40 }, () => requester.request(whoIsThere, null)),
    );
    expect(performance.now() - begun).toBeLessThan(4_500);
    // Until the broker notices the frozen member, it chooses between both: without repeats, 20 of 40 requests would
    // fail.
    expect(responses.filter(({ status }) => status === 'rejected').length).toBeLessThanOrEqual(6);
    cluster.server(1).thaw();
  });

  it('by a frozen process is not repeated unless its definition allows that', async () => {
    const nats = await NatsServerFixture.start();
    cleanUps.push(() => nats.stop());
    const child = WaitingProcess.start(nats.url);
    cleanUps.push(() => child.kill());
    await eventually(() => child.printed('listening'), { timeoutMs: 15_000 });
    const link = await open(nats.url);
    const heard: string[] = [];
    link.connection.subscribe('*.cmd.echo.>', {
      callback: (_, message) => void heard.push(message.string()),
    });
    const requester = new Requester(link);
    child.signal('SIGSTOP');
    const outcomes = (['wait', 'repeat', 'report'] as const).map(async (whenLost) => {
      const begun = performance.now();
      const wait = defineRequest<unknown, string>('cmd.echo.wait.v1', 20_000, { whenLost });
      const error: unknown = await requester
        .request(wait, { ms: 1, whenLost })
        .catch((reason: unknown) => reason);
      expect(error).toMatchObject({ kind: 'unavailable' });
      return performance.now() - begun;
    });
    const [waited, repeated, reported] = await Promise.all(outcomes);
    const times = (whenLost: string): number => heard.filter((text) => text.includes(whenLost)).length;
    expect([times('"wait"'), times('"report"')]).toEqual([1, 1]);
    expect(times('"repeat"')).toBeGreaterThanOrEqual(3);
    expect(waited).toBeGreaterThan(3_400);
    expect(repeated).toBeLessThan(4_500);
    expect(reported).toBeLessThan(2_500);
    child.signal('SIGCONT');
  });
});
