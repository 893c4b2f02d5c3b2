import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { connect as connectSocket, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually, recordingLog } from '../embedded-bench.fixture.js';
import { ensureNatsServer } from './nats-binary.js';
import { hostAccessIn, SERVICE_ACCESS, type HostAccess } from '@berth/broker-users';

const REPOSITORY = join(import.meta.dirname, '../../../..');
const BROKER = '.data/compose/broker';
const SERVICES = Object.keys(SERVICE_ACCESS);

let folder: string;
let port: number;
let server: ChildProcess;

const file = (name: string): string => readFileSync(join(folder, '.data/compose', name), 'utf8');

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'berth-compose-'));
  cpSync(join(REPOSITORY, 'infra/compose'), join(folder, 'infra/compose'), { recursive: true });
  cpSync(join(REPOSITORY, 'docker-compose.yml'), join(folder, 'docker-compose.yml'));
  execFileSync('sh', ['infra/compose/make-secrets.sh'], { cwd: folder });
  port = await freePort();
  const conf = join(folder, 'infra/compose/nats.conf');
  const text = readFileSync(conf, 'utf8')
    .replace('port: 4222', `host: "127.0.0.1"\nport: ${port}`)
    .replace('http: "127.0.0.1:8222"', '')
    .replace('store_dir: /data', `store_dir: ${JSON.stringify(join(folder, 'js'))}`)
    // Servers before 2.10 do not know it; the image is newer.
    .replace('sync_interval: always', '');
  writeFileSync(conf, text);
  const { path } = await ensureNatsServer(recordingLog());
  const args = ['infra/compose/nats-start.sh', 'infra/compose', '.data/compose/nats_users', BROKER];
  const env = { PATH: [dirname(path), process.env['PATH']].join(delimiter), TMPDIR: folder };
  server = spawn('sh', args, { cwd: folder, stdio: 'ignore', env });
  const responses = async (): Promise<boolean> => {
    try {
      await (await connectAs('gateway')).close();
      return true;
    } catch {
      return false;
    }
  };
  await eventually('the broker accepts the gateway', responses);
});

afterAll(async () => {
  const exited = once(server, 'exit');
  server.kill();
  await exited;
  rmSync(folder, { recursive: true, force: true });
});

const connectAs = async (service: string): Promise<NatsConnection> => {
  const { username, password } = new URL(file(`nats_url_${service}`));
  return connect({ servers: `127.0.0.1:${port}`, user: username, pass: password });
};

const maySubscribe = async (service: string, subject: string): Promise<boolean> => {
  const connection = await connectAs(service);
  let refused = false;
  connection.subscribe(subject, { callback: (error) => void (refused ||= error !== null) });
  await connection.flush();
  await connection.close();
  return !refused;
};

const mayPublish = async (service: string, subject: string): Promise<boolean> => {
  const connection = await connectAs(service);
  let refused = false;
  const watching = (async () => {
    for await (const { type } of connection.status()) refused ||= type === 'error';
  })();
  connection.publish(subject);
  await connection.flush();
  await connection.close();
  await watching;
  return !refused;
};

describe('the broker of docker-compose.yml', () => {
  it.each(SERVICES)('accepts %s with its own secret, for its own subjects', async (service) => {
    const inbox = service === 'runtime' ? `runtime-${file('host_id')}` : service;
    expect(await maySubscribe(service, `_INBOX.berth.${inbox}.>`)).toBe(true);
    for (const other of SERVICES.filter((one) => one !== service))
      expect(await maySubscribe(service, `_INBOX.berth.${other}.>`), other).toBe(false);
    expect(await maySubscribe(service, 'berth.>')).toBe(false);
  });

  it('lets the runtime receive messages for its host', async () => {
    expect(await maySubscribe('runtime', `berth.cmd.runtime.start.v1.${file('host_id')}`)).toBe(true);
    expect(await maySubscribe('runtime', `berth.qry.runtime.logs.v1.${file('host_id')}`)).toBe(true);
    expect(await maySubscribe('runtime', 'berth.cmd.runtime.start.v1.hst_other')).toBe(false);
  });

  it('lets the runtime send all that its host reports, and nothing for another host', async () => {
    const subjects = SERVICE_ACCESS.runtime.calls.filter((subject) => subject.endsWith('.{from}'));
    expect(subjects.length).toBeGreaterThan(1);
    for (const subject of subjects) {
      const of = (host: string): string => `berth.${subject.replace('{from}', host)}`;
      expect(await mayPublish('runtime', of(file('host_id'))), subject).toBe(true);
      expect(await mayPublish('runtime', of('hst_other')), subject).toBe(false);
    }
  });

  it('rejects clients without a password', async () => {
    await expect(connect({ servers: `127.0.0.1:${port}` })).rejects.toThrow(/[Aa]uthorization/);
  });

  it('disconnects a frozen client after two unanswered pings, which it sends every 2 s', async () => {
    const { username, password } = new URL(file('nats_url_gateway'));
    const credentials = { user: username, pass: decodeURIComponent(password), verbose: false };
    const frozen = connectSocket(port, '127.0.0.1');
    let received = '';
    frozen.on('data', (bytes: Buffer) => (received += bytes.toString()));
    frozen.write(`CONNECT ${JSON.stringify(credentials)}\r\n`);
    // By default a server waits for two pings of two minutes each.
    await once(frozen, 'close', { signal: AbortSignal.timeout(20_000) });
    expect(received).toContain('Stale Connection');
  });
});

describe('`berth hosts add` with the broker of docker-compose.yml', () => {
  const access = (): HostAccess => {
    const address = { host: '127.0.0.1', port };
    const reachedAt = { host: '10.0.0.1', port: 4222 };
    return hostAccessIn({ folder: join(folder, BROKER), instance: 'berth', address, reachedAt });
  };
  const connectWith = async (natsUrl: string): Promise<NatsConnection> => {
    const { username, password } = new URL(natsUrl);
    return connect({ servers: `127.0.0.1:${port}`, user: username, pass: password, reconnect: false });
  };

  it('gives a credential that works at once, for its own subjects only, and ends no connection', async () => {
    const service = await connectAs('gateway');
    const { id, natsUrl } = await access().add('first');
    const second = await access().add('second');
    expect(natsUrl).toMatch(/@10\.0\.0\.1:4222$/);
    for (const [url, own, other] of [
      [natsUrl, id, second.id],
      [second.natsUrl, second.id, id],
    ] as const) {
      const connection = await connectWith(url);
      const refused: string[] = [];
      for (const one of [own, other])
        connection.subscribe(`berth.cmd.runtime.x.v1.${one}`, {
          callback: (error) => void (error === null ? undefined : refused.push(one)),
        });
      await connection.flush();
      await connection.close();
      expect(refused).toEqual([other]);
    }
    await service.flush();
    await service.close();
  });

  it('keeps what it gave to itself, and after `hosts remove` the broker refuses it', async () => {
    const { id, natsUrl } = await access().add('leaving');
    for (const name of ['hosts.json', 'hosts.conf'])
      expect(statSync(join(folder, BROKER, name)).mode & 0o777).toBe(0o600);
    const connection = await connectWith(natsUrl);
    expect(await access().revoke(id)).toBe(true);
    await connection.closed();
    await expect(connectWith(natsUrl)).rejects.toThrow(/[Aa]uthorization/);
    expect(await access().revoke(id)).toBe(false);
  });

  it('leaves the users as they were when no broker reads them', async () => {
    const folderOfNone = mkdtempSync(join(folder, 'none-'));
    const address = { host: '127.0.0.1', port: await freePort() };
    const none = hostAccessIn({
      folder: folderOfNone,
      instance: 'berth',
      address,
      reachedAt: address,
      withinMs: 200,
    });
    await expect(none.add('nowhere')).rejects.toThrow('cannot be reached');
    expect(readFileSync(join(folderOfNone, 'hosts.json'), 'utf8')).toBe('{"hosts":[]}');
  });
});

describe('the secrets of docker-compose.yml', () => {
  it('are in a folder that only its owner can enter, and stay the same when they are generated again', () => {
    const before = SERVICES.map((service) => file(`nats_url_${service}`));
    execFileSync('sh', ['infra/compose/make-secrets.sh'], { cwd: folder });
    expect(statSync(join(folder, '.data/compose')).mode & 0o777).toBe(0o700);
    expect(SERVICES.map((service) => file(`nats_url_${service}`))).toEqual(before);
    expect(new Set(before.map((url) => new URL(url).password)).size).toBe(SERVICES.length);
  });
});

const freePort = async (): Promise<number> => {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port: free } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return free;
};
