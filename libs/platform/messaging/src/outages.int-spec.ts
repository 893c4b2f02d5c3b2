import { effectOf } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { echoModule, echoRequests } from './__fixtures__/echo-service.fixture.js';
import { keepingLogger } from './__fixtures__/lines.fixture.js';
import { NatsServerFixture } from './__fixtures__/nats-server.fixture.js';
import { WAYS } from './__fixtures__/ways-of-requests.fixture.js';
import { WaitingProcess } from './__fixtures__/waiting-process.js';
import { NatsLink, Requester, startService, type ProcessHandlers } from './index.js';

interface Failed {
  readonly error: unknown;
  readonly afterMs: number;
}

const failing = async (work: Promise<unknown>): Promise<Failed> => {
  const startedAt = performance.now();
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return { error, afterMs: performance.now() - startedAt };
};

describe.each(WAYS)('when something dies and requests go %s,', (_, handlersOf) => {
  let handlers: ProcessHandlers | undefined;
  let nats: NatsServerFixture;
  let link: NatsLink;
  let requester: Requester;
  const { log } = keepingLogger();
  const cleanUps: (() => Promise<void>)[] = [];

  beforeEach(async () => {
    handlers = handlersOf();
    nats = await NatsServerFixture.start();
    link = await NatsLink.open({ url: nats.url, name: 'caller', handlers, log });
    requester = new Requester(link);
    cleanUps.push(
      () => nats.stop(),
      () => link.close(),
    );
  });
  afterEach(async () => {
    for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
  });

  const startProcess = async (): Promise<WaitingProcess> => {
    const child = WaitingProcess.start(nats.url);
    cleanUps.push(() => child.kill());
    await eventually(() => child.printed('listening'));
    return child;
  };

  const startEcho = async ({ elsewhere = false } = {}): Promise<void> => {
    const own = await NatsLink.open({
      url: nats.url,
      name: 'echo',
      handlers: elsewhere ? undefined : handlers,
      log,
    });
    const service = await startService({
      name: 'echo',
      module: echoModule('one'),
      link: own,
      host: 'h1',
      log,
    });
    cleanUps.push(
      () => own.close(),
      () => service.stop(),
    );
  };

  it('a request whose handler is killed fails within 4 s', async () => {
    const child = await startProcess();
    const request = failing(requester.request(echoRequests.wait, { ms: 15_000 }));
    await eventually(() => child.printed('handling'));
    await child.kill();
    const { error, afterMs } = await request;
    expect(error).toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
    expect(effectOf(error)).not.toBe('none');
    expect(afterMs).toBeLessThan(4_500);
  });

  it('a request whose handler is frozen after some heartbeats fails 3.5 s later', async () => {
    const child = await startProcess();
    let heartbeats = 0;
    link.connection.subscribe('_INBOX.>', { callback: () => void heartbeats++ });
    const request = failing(requester.request(echoRequests.wait, { ms: 15_000 }));
    await eventually(() => heartbeats === 2);
    const frozenAt = performance.now();
    child.signal('SIGSTOP');
    const { error } = await request;
    expect(error).toMatchObject({ kind: 'unavailable' });
    const afterMs = performance.now() - frozenAt;
    expect(afterMs).toBeGreaterThan(3_000);
    expect(afterMs).toBeLessThan(4_000);
  });

  it('without a broker requests fail immediately, those in flight to another process within 2 s, and they succeed again when it is back', async () => {
    await startEcho({ elsewhere: true });
    const inFlight = failing(requester.request(echoRequests.wait, { ms: 15_000 }));
    link.outgoing.flush();
    await link.connection.flush();
    await nats.kill();
    await eventually(() => !link.connected);
    const refused = await failing(requester.request(echoRequests.echo, { text: '' }));
    expect(refused.error).toMatchObject({ kind: 'unavailable', code: 'service_unavailable' });
    expect(effectOf(refused.error)).toBe('none');
    expect(refused.afterMs).toBeLessThan(50);
    const lost = await inFlight;
    expect(lost.error).toMatchObject({ kind: 'unavailable' });
    expect(lost.afterMs).toBeLessThan(2_000);
    await nats.resume();
    const response = await eventually(() => requester.request(echoRequests.echo, { text: 'again' }));
    expect(response.text).toBe('again');
  });

  it('no request in flight fails when the broker is back within a second', async () => {
    await startEcho();
    const inFlight = requester.request(echoRequests.wait, { ms: 2_000 });
    link.outgoing.flush();
    await link.connection.flush();
    await nats.kill();
    await nats.resume();
    await expect(inFlight).resolves.toBe('one');
  });

  it('a frozen broker is detected within 4 s, and requests work again when it thaws', async () => {
    await startEcho();
    await nats.freeze();
    const frozenAt = performance.now();
    await eventually(() => !link.connected);
    expect(performance.now() - frozenAt).toBeLessThan(4_000);
    nats.thaw();
    await eventually(() => requester.request(echoRequests.echo, { text: '' }));
  });

  it('a request refused during an outage is not sent when the broker is back', async () => {
    await startEcho();
    const heard: string[] = [];
    await nats.kill();
    await eventually(() => !link.connected);
    await failing(requester.request(echoRequests.echo, { text: 'ghost' }));
    await nats.resume();
    const listener = await NatsLink.open({ url: nats.url, name: 'listener', log });
    cleanUps.push(() => listener.close());
    listener.connection.subscribe('berth.qry.echo.>', {
      callback: (_error, message) => void heard.push(message.string()),
    });
    await listener.connection.flush();
    await eventually(() => requester.request(echoRequests.echo, { text: 'real' }));
    expect(heard.some((text) => text.includes('ghost'))).toBe(false);
  });

  it('opening a link waits for a broker that is not up yet, for a bounded time', async () => {
    await nats.kill();
    const opening = NatsLink.open({ url: nats.url, name: 'early', log });
    await nats.resume();
    const early = await opening;
    expect(early.connected).toBe(true);
    await early.close();
    await nats.kill();
    await expect(
      NatsLink.open({ url: nats.url, name: 'late', log, openWithinMs: 300 }),
    ).rejects.toMatchObject({
      code: 'service_unavailable',
    });
  });
});

describe('a broker with credentials', () => {
  it('accepts those of the URL and refuses wrong ones immediately; the log does not contain them', async () => {
    const { log, lines } = keepingLogger();
    const nats = await NatsServerFixture.start('--user', 'berth', '--pass', 's3cr3t/?@:%');
    try {
      const credentials = `berth:${encodeURIComponent('s3cr3t/?@:%')}`;
      const link = await NatsLink.open({
        url: nats.url.replace('//', `//${credentials}@`),
        name: 'right',
        log,
      });
      await link.close();
      await expect(
        NatsLink.open({ url: nats.url.replace('//', '//berth:wrong@'), name: 'wrong', log }),
      ).rejects.toThrow('names a broker that refuses the credentials');
      expect(lines.join('')).not.toContain('s3cr3t');
    } finally {
      await nats.stop();
    }
  });
});
