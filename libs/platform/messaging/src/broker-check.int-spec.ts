import { jetstreamManager } from '@nats-io/jetstream';
import { connect } from '@nats-io/transport-node';
import { eventually, NatsServer } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { keepingLogger } from './__fixtures__/lines.fixture.js';
import { BrokerCheck, NatsLink } from './index.js';

const FIT = 'max_payload: 8388608\njetstream { store_dir: $STORE }';
const STREAMS = ['berth_DLQ_EXEC', 'berth_EVT_AGENTS'];
const PATIENTLY = { timeoutMs: 20_000 };

describe('a broker', () => {
  let nats: NatsServer;
  let link: NatsLink;
  let lines: string[];

  beforeEach(async () => {
    nats = await NatsServer.configured(FIT);
  });
  afterEach(async () => {
    await link.close();
    await nats.stop();
  });

  const check = async (replicas?: number): Promise<BrokerCheck> => {
    const kept = keepingLogger();
    lines = kept.lines;
    lines.length = 0;
    const { log } = kept;
    const url = nats.url.replace('//', '//a:a@');
    link = await NatsLink.open({ url, name: 'check', log, ...(replicas === undefined ? {} : { replicas }) });
    return new BrokerCheck(link, { publishes: ['agents'], consumes: ['exec'] }, log);
  };

  const streams = async (): Promise<readonly string[]> =>
    (await (await jetstreamManager(link.connection)).streams.names().next()).sort();

  it('that has everything is fit, and has the streams afterwards', async () => {
    const checked = await check();
    await expect(checked.require()).resolves.toBeUndefined();
    await expect(checked.isFit()).resolves.toBe(true);
    expect(await streams()).toEqual(STREAMS);
  });

  it.each([
    ['without JetStream', 'max_payload: 8388608', /without JetStream/],
    [
      'that accepts only small messages',
      'jetstream { store_dir: $STORE }',
      /at most 1048576 bytes: set max_payload/,
    ],
    [
      'whose account has no JetStream',
      `${FIT}\naccounts { A { users: [{ user: a, password: a }] }, B { jetstream: enabled } }`,
      /without JetStream/,
    ],
    [
      'whose account has room for one stream',
      `${FIT}\naccounts { A { users: [{ user: a, password: a }], jetstream { max_streams: 1, max_file: 1G } } }`,
      /refuses the stream berth_DLQ_EXEC: maximum number of streams reached/,
    ],
    [
      'whose user may not create streams',
      `${FIT}\nauthorization { users: [{ user: a, password: a, permissions { publish { deny: "$JS.API.STREAM.CREATE.>" } } }] }`,
      /refuses the stream berth_EVT_AGENTS/,
    ],
  ])('%s is unfit, with the reason', async (_what, config, why) => {
    await nats.reconfigure(config);
    const checked = await check();
    await expect(checked.require()).rejects.toMatchObject({
      name: 'UnfitBroker',
      message: expect.stringMatching(why) as string,
    });
    await expect(checked.isFit()).resolves.toBe(false);
    expect(lines.some((line) => why.test(line))).toBe(true);
  });

  it.each([
    ['without JetStream', 'max_payload: 8388608'],
    ['that accepts only small messages', 'jetstream { store_dir: $STORE }'],
  ])(
    'that comes back %s is reported unfit on reconnect, and fit again once that is repaired',
    async (_what, config) => {
      const checked = await check();
      const stop = checked.watch();
      await expect(checked.isFit()).resolves.toBe(true);
      await nats.reconfigure(config);
      await eventually(
        () => expect(lines.join('')).toContain('The broker cannot serve in full: NATS_URL names'),
        PATIENTLY,
      );
      await expect(checked.isFit()).resolves.toBe(false);
      await nats.reconfigure(FIT);
      await eventually(() => expect(lines.join('')).toContain('The broker can serve again.'), PATIENTLY);
      stop();
    },
  );

  it('whose JetStream does not respond, although it accepts connections, is named as the cause', async () => {
    const checked = await check();
    await nats.reconfigure('max_payload: 8388608');
    const silent = await connect({ servers: nats.url.replace('nats://', '') });
    silent.subscribe('$JS.API.>');
    await silent.flush();
    await eventually(() => expect(link.connected).toBe(true));
    await expect(checked.isFit()).rejects.toThrow('timeout');
    expect(lines.join('')).toContain('accepts connections, but whose JetStream does not respond');
    await silent.close();
  });

  it('of one server is unfit when NATS_REPLICAS requires more, and has the event stream nevertheless', async () => {
    const checked = await check(3);
    await expect(checked.require()).rejects.toMatchObject({
      name: 'UnfitBroker',
      message: expect.stringContaining('it has 1 replicas, NATS_REPLICAS wants 3') as string,
    });
    expect(await streams()).toContain('berth_EVT_AGENTS');
  });
});
