import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { recordingLog, temporaryDataDir } from '../embedded-bench.fixture.js';
import { startEmbedded, type EmbeddedInfrastructure } from '../start-embedded.js';
import { SERVICE_ACCESS, type ServiceName } from '@berth/broker-users';

const OURS = 'hst_ours';
const opened: NatsConnection[] = [];
const folder = temporaryDataDir();
let broker: EmbeddedInfrastructure;

beforeAll(async () => {
  broker = await startEmbedded({
    dataDir: folder.dataDir,
    eventStoreUrl: 'esdb://elsewhere',
    databaseUrl: 'postgres://elsewhere',
    hosts: [OURS],
    log: recordingLog(),
  });
});

afterEach(async () => {
  await Promise.all(opened.splice(0).map((connection) => connection.close()));
});

afterAll(async () => {
  await broker.stop();
  folder.remove();
});

const connectAs = async (url: string): Promise<NatsConnection> => {
  const { host, username, password } = new URL(url);
  const connection = await connect({ servers: host, user: username, pass: password });
  opened.push(connection);
  return connection;
};

const as = (service: ServiceName): Promise<NatsConnection> => connectAs(broker.natsUrlOf(service));

/** Whether the broker lets the service subscribe there. */
const maySubscribe = async (service: ServiceName, subject: string): Promise<boolean> => {
  const connection = await as(service);
  let refused = false;
  connection.subscribe(subject, { callback: (error) => void (refused ||= error !== null) });
  await connection.flush();
  return !refused;
};

/** Whether a message that the service publishes there arrives. */
const mayPublish = async (service: ServiceName, subject: string): Promise<boolean> => {
  const listener = await connectAs(broker.natsUrl);
  let arrived = false;
  listener.subscribe(subject, { callback: () => void (arrived = true) });
  await listener.flush();
  const connection = await as(service);
  connection.publish(subject);
  await connection.flush();
  await listener.flush();
  return arrived;
};

const SERVICES = Object.keys(SERVICE_ACCESS) as ServiceName[];

describe.each(SERVICES)('the NATS user of %s', (service) => {
  const others = SERVICES.filter((other) => other !== service);

  it('may receive and send everything that the code of the service does', async () => {
    const { handles, calls, publishes } = SERVICE_ACCESS[service];
    for (const subject of handles)
      expect(
        await maySubscribe(service, `berth.${subject.replace('{host}', OURS).replace('{from}', '*')}`),
        subject,
      ).toBe(true);
    for (const called of calls)
      expect(
        await mayPublish(service, `berth.${called.replace('{host}', 'hst_any').replace('{from}', OURS)}`),
        called,
      ).toBe(true);
    for (const context of publishes)
      expect(await mayPublish(service, `berth.evt.${context}.done.v1.a.b`)).toBe(true);
  });

  it('receives no request of another service, and no reply to one', async () => {
    for (const other of others) {
      const [subject = `cmd.${other}.x.v1`] = SERVICE_ACCESS[other].handles;
      expect(
        await maySubscribe(service, `berth.${subject.replace('{host}', OURS).replace('{from}', '*')}`),
        subject,
      ).toBe(false);
      expect(await maySubscribe(service, `_INBOX.berth.${other}.>`), other).toBe(false);
    }
    for (const all of ['>', 'berth.>', '_INBOX.>', `_INBOX.berth.*.>`, '$JS.>', '$SYS.>'])
      expect(await maySubscribe(service, all), all).toBe(false);
  });

  it('replies only under its own name', async () => {
    expect(await mayPublish(service, `_INBOX.berth.gateway.nuid.${service}.1`)).toBe(true);
    for (const other of others)
      expect(await mayPublish(service, `_INBOX.berth.gateway.nuid.${other}.1`), other).toBe(false);
    expect(await mayPublish(service, '_INBOX.berth.gateway.nuid.1')).toBe(false);
  });

  it('can access only the streams it needs, and no other installation', async () => {
    const { publishes } = SERVICE_ACCESS[service];
    for (const other of others.filter((one) => !publishes.includes(one))) {
      const stream = `berth_EVT_${other.replaceAll('-', '_').toUpperCase()}`;
      expect(await mayPublish(service, `berth.evt.${other}.done.v1.a.b`), other).toBe(false);
      for (const operation of ['PURGE', 'DELETE', 'UPDATE'])
        expect(await mayPublish(service, `$JS.API.STREAM.${operation}.${stream}`), stream).toBe(false);
    }
    expect(await mayPublish(service, '$JS.API.STREAM.CREATE.mine')).toBe(false);
    expect(await mayPublish(service, 'other.cmd.agents.create.v1')).toBe(false);
  });
});

describe('the NATS user of a runtime host', () => {
  it('receives messages for its own host and none for others', async () => {
    expect(await maySubscribe('runtime', `berth.cmd.runtime.start.v1.${OURS}`)).toBe(true);
    expect(await maySubscribe('runtime', `_INBOX.berth.runtime-${OURS}.>`)).toBe(true);
    for (const foreign of ['hst_theirs', '*'])
      expect(await maySubscribe('runtime', `berth.cmd.runtime.start.v1.${foreign}`)).toBe(false);
    expect(await maySubscribe('runtime', '_INBOX.berth.runtime-hst_theirs.>')).toBe(false);
  });

  it('reports about its own host only', async () => {
    for (const report of ['announce-host', 'report-activity', 'report-observation']) {
      expect(await mayPublish('runtime', `berth.cmd.agents.${report}.v1.${OURS}`), report).toBe(true);
      expect(await mayPublish('runtime', `berth.cmd.agents.${report}.v1.hst_theirs`), report).toBe(false);
    }
  });

  it('replies for its own host only', async () => {
    expect(await mayPublish('runtime', `_INBOX.berth.agents.nuid.runtime-${OURS}.1`)).toBe(true);
    expect(await mayPublish('runtime', '_INBOX.berth.agents.nuid.runtime-hst_theirs.1')).toBe(false);
  });
});

describe('the broker', () => {
  it('rejects clients without a password or with a wrong one', async () => {
    const { host } = new URL(broker.natsUrl);
    for (const attempt of [
      {},
      { user: 'gateway' },
      ...['berth', 'operator', ...SERVICES].map((user) => ({ user, pass: user })),
      { token: 'berth' },
    ])
      await expect(connect({ servers: host, ...attempt })).rejects.toThrow(/[Aa]uthorization/);
  });

  it('has a separate password for each service', () => {
    const passwords = [broker.natsUrl, ...SERVICES.map((service) => broker.natsUrlOf(service))].map(
      (url) => new URL(url).password,
    );
    expect(new Set(passwords).size).toBe(SERVICES.length + 1);
    for (const password of passwords) expect(password.length).toBeGreaterThanOrEqual(48);
  });
});
