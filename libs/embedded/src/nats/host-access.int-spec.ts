import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { recordingLog, temporaryDataDir } from '../embedded-bench.fixture.js';
import { startEmbedded, type EmbeddedInfrastructure } from '../start-embedded.js';
import type { HostAccess, HostCredential } from '@berth/broker-users';

const folder = temporaryDataDir();
const opened: NatsConnection[] = [];
let broker: EmbeddedInfrastructure;

const start = (): Promise<EmbeddedInfrastructure> =>
  startEmbedded({
    dataDir: folder.dataDir,
    eventStoreUrl: 'esdb://elsewhere',
    databaseUrl: 'postgres://elsewhere',
    log: recordingLog(),
  });

beforeAll(async () => {
  broker = await start();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((connection) => connection.close()));
});
afterAll(async () => {
  await broker.stop();
  folder.remove();
});

const access = (): HostAccess => {
  if (broker.hostAccess === undefined) throw new Error('The broker is not embedded.');
  return broker.hostAccess;
};

const connectAs = async (url: string): Promise<NatsConnection> => {
  const { host, username, password } = new URL(url);
  const connection = await connect({ servers: host, user: username, pass: password, reconnect: false });
  opened.push(connection);
  return connection;
};

const maySubscribe = async ({ natsUrl }: HostCredential, subject: string): Promise<boolean> => {
  const connection = await connectAs(natsUrl);
  let refused = false;
  connection.subscribe(subject, { callback: (error) => void (refused ||= error !== null) });
  await connection.flush();
  return !refused;
};

const mayPublish = async ({ natsUrl }: HostCredential, subject: string): Promise<boolean> => {
  const listener = await connectAs(broker.natsUrl);
  let arrived = false;
  listener.subscribe(subject, { callback: () => void (arrived = true) });
  await listener.flush();
  const connection = await connectAs(natsUrl);
  connection.publish(subject);
  await connection.flush();
  await listener.flush();
  return arrived;
};

describe('the credential of a host', () => {
  it('works at once, without an end to other connections, and after a restart of the broker', async () => {
    const service = await connectAs(broker.natsUrlOf('agents'));
    const added = await access().add('one');
    expect(added).toMatchObject({ id: expect.stringMatching(/^hst_/) as string, name: 'one' });
    await connectAs(added.natsUrl);
    expect(service.isClosed()).toBe(false);
    await service.flush();
    await broker.stop();
    broker = await start();
    await connectAs(added.natsUrl);
  });

  it('reaches the subjects of its own host and of no other', async () => {
    const own = await access().add('own');
    const other = await access().add('other');
    for (const kind of ['cmd', 'qry']) {
      expect(await maySubscribe(own, `berth.${kind}.runtime.x.v1.${own.id}`)).toBe(true);
      expect(await maySubscribe(own, `berth.${kind}.runtime.x.v1.${other.id}`)).toBe(false);
      expect(await mayPublish(own, `berth.${kind}.runtime.x.v1.${other.id}`)).toBe(false);
    }
    for (const subject of ['>', 'berth.>', 'berth.cmd.agents.create.v1'])
      expect(await maySubscribe(own, subject), subject).toBe(false);
    expect(await maySubscribe(own, `_INBOX.berth.runtime-${other.id}.>`)).toBe(false);
    expect(await mayPublish(own, `_INBOX.berth.agents.1.runtime-${own.id}.1`)).toBe(true);
    expect(await mayPublish(own, `_INBOX.berth.agents.1.runtime-${other.id}.1`)).toBe(false);
    expect(await mayPublish(own, `berth.cmd.agents.announce-host.v1.${own.id}`)).toBe(true);
    expect(await mayPublish(own, `berth.cmd.agents.announce-host.v1.${other.id}`)).toBe(false);
    expect(await mayPublish(own, 'berth.cmd.agents.create.v1')).toBe(false);
  });

  it('ends its connections when it is revoked, and cannot be used again', async () => {
    const added = await access().add('leaving');
    const stays = await access().add('staying');
    const [ended, kept] = [await connectAs(added.natsUrl), await connectAs(stays.natsUrl)];
    expect(await access().revoke(added.id)).toBe(true);
    await ended.closed();
    await expect(connectAs(added.natsUrl)).rejects.toThrow(/authorization/i);
    await kept.flush();
    expect(await access().revoke(added.id)).toBe(false);
  });
});
