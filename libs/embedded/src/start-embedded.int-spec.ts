import { readdirSync, statSync } from 'node:fs';
import { createServer, connect as connectTcp } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { connect as connectNats } from '@nats-io/transport-node';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startEmbedded, type EmbeddedInfrastructure, type EmbeddedPart } from './start-embedded.js';
import {
  eventually,
  listeners,
  recordedPids,
  recordingLog,
  runs,
  temporaryDataDir,
} from './embedded-bench.fixture.js';

async function query(url: string, sql: string): Promise<unknown[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query(sql)).rows as unknown[];
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function accepts(port: number): Promise<boolean> {
  const socket = connectTcp({ host: '127.0.0.1', port });
  try {
    await once(socket, 'connect');
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}

// The client ignores user and password in a URL.
function natsOptions(url: string): { servers: string; user: string; pass: string } {
  const { host, username, password } = new URL(url);
  return { servers: host, user: username, pass: password };
}

async function publish(url: string, text: string): Promise<void> {
  const connection = await connectNats(natsOptions(url));
  try {
    const manager = await jetstreamManager(connection);
    await manager.streams.add({ name: 'KEPT', subjects: ['kept.>'] });
    await jetstream(connection).publish('kept.message', text);
  } finally {
    await connection.close();
  }
}

async function lastPublished(url: string): Promise<string | undefined> {
  const connection = await connectNats(natsOptions(url));
  try {
    const manager = await jetstreamManager(connection);
    return (await manager.streams.getMessage('KEPT', { last_by_subj: 'kept.message' }))?.string();
  } finally {
    await connection.close();
  }
}

function respondsToSql({ databaseUrl }: EmbeddedInfrastructure): Promise<boolean> {
  return query(databaseUrl, 'SELECT 1').then(
    () => true,
    () => false,
  );
}

function respondsToNats({ natsUrl }: EmbeddedInfrastructure): Promise<boolean> {
  return publish(natsUrl, 'ping').then(
    () => true,
    () => false,
  );
}

function partsOf({ parts }: EmbeddedInfrastructure): [string, EmbeddedPart][] {
  const { nats, eventStore, postgres } = parts;
  if (!nats || !eventStore || !postgres) throw new Error('a part is missing');
  return [
    ['nats', nats],
    ['eventStore', eventStore],
    ['postgres', postgres],
  ];
}

describe('the embedded infrastructure', () => {
  const folder = temporaryDataDir();
  const log = recordingLog();
  let running: EmbeddedInfrastructure;

  beforeAll(async () => {
    running = await startEmbedded({ dataDir: folder.dataDir, log });
  });

  afterAll(async () => {
    await running.stop();
    folder.remove();
  });

  it('listens on the loopback address only', () => {
    for (const [, part] of partsOf(running))
      expect(listeners(part.port)).toEqual(['0100007F:' + hexPort(part.port)]);
  });

  it('rejects clients without the password', async () => {
    await expect(query(running.databaseUrl.replace(/:p\w+@/, ':wrong@'), 'SELECT 1')).rejects.toThrow(
      /password/,
    );
    const { servers } = natsOptions(running.natsUrl);
    await expect(connectNats({ servers })).rejects.toThrow(/[Aa]uthorization/);
  });

  it('keeps its data folder closed to other users, and every secret in a file that only the owner can read', () => {
    expect(statSync(folder.dataDir).mode & 0o777).toBe(0o700);
    expect(statSync(join(folder.dataDir, 'embedded', 'secrets.json')).mode & 0o777).toBe(0o600);
    expect(statSync(join(folder.dataDir, 'nats', 'nats.conf')).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder.dataDir, 'postgres'))).toEqual(['data']);
  });

  it('logs no password', () => {
    const secrets = [running.natsUrl, running.databaseUrl].map((url) => new URL(url).password);
    for (const secret of secrets) expect(log.lines.join('\n')).not.toContain(secret);
  });

  it('flushes commits to disk and accepts enough connections', async () => {
    const rows = await query(
      running.databaseUrl,
      `SELECT current_setting('fsync') AS fsync, current_setting('synchronous_commit') AS waits,
         current_setting('max_connections') AS connections`,
    );
    expect(rows).toEqual([{ fsync: 'on', waits: 'on', connections: '100' }]);
  });

  it.each(['nats', 'eventStore', 'postgres'])('restarts a killed %s on the same port', async (name) => {
    const [, part] = partsOf(running).find(([each]) => each === name) ?? [];
    if (!part) throw new Error(`no part ${name}`);
    const before = part.pid;
    expect(part.kill('SIGKILL')).toBe(true);
    await eventually(
      `${name} back`,
      async () => part.pid !== undefined && part.pid !== before && accepts(part.port),
      5000,
    );
  });

  it('works again after all parts were killed', async () => {
    for (const [, part] of partsOf(running)) part.kill('SIGKILL');
    await eventually(
      'both respond',
      async () => (await respondsToSql(running)) && respondsToNats(running),
      10_000,
    );
  });

  it('keeps committed rows when PostgreSQL is killed', async () => {
    await query(running.databaseUrl, 'CREATE TABLE kept (word text)');
    await query(running.databaseUrl, `INSERT INTO kept VALUES ('here')`);
    partsOf(running)[2]?.[1].kill('SIGKILL');
    await eventually('the row is read again', async () =>
      query(running.databaseUrl, 'SELECT word FROM kept').then(
        (rows) => JSON.stringify(rows) === '[{"word":"here"}]',
        () => false,
      ),
    );
  });

  it('keeps the messages that JetStream acknowledged when the broker is killed', async () => {
    await publish(running.natsUrl, 'here');
    partsOf(running)[0]?.[1].kill('SIGKILL');
    await eventually('the message is read again', async () =>
      lastPublished(running.natsUrl).then(
        (text) => text === 'here',
        () => false,
      ),
    );
  });

  it('stops within 10 s, leaves no process, and restarts at the same addresses with the same data', async () => {
    const pids = recordedPids(folder.dataDir);
    const since = performance.now();
    await running.stop();
    expect(performance.now() - since).toBeLessThan(10_000);
    expect(pids.filter(runs)).toEqual([]);

    const before = running;
    running = await startEmbedded({ dataDir: folder.dataDir, log });
    expect([running.natsUrl, running.eventStoreUrl, running.databaseUrl]).toEqual([
      before.natsUrl,
      before.eventStoreUrl,
      before.databaseUrl,
    ]);
    expect(await query(running.databaseUrl, 'SELECT word FROM kept')).toEqual([{ word: 'here' }]);
    expect(await lastPublished(running.natsUrl)).toBe('here');
  });

  it('uses another port when its own was taken in the meantime', async () => {
    const port = partsOf(running)[0]?.[1].port;
    await running.stop();
    const intruder = createServer().listen(port, '127.0.0.1');
    await once(intruder, 'listening');
    running = await startEmbedded({ dataDir: folder.dataDir, log });
    intruder.close();
    expect(partsOf(running)[0]?.[1].port).not.toBe(port);
    expect(await lastPublished(running.natsUrl)).toBe('here');
  });
});

describe('parts that already run elsewhere', () => {
  it('are used by their URL and not started', async () => {
    const folder = temporaryDataDir();
    const given = { natsUrl: 'nats://n:1', eventStoreUrl: 'esdb://e:2', databaseUrl: 'postgresql://d:3/x' };
    const infrastructure = await startEmbedded({ dataDir: folder.dataDir, ...given, log: recordingLog() });
    expect(infrastructure).toMatchObject({ ...given, parts: {} });
    await infrastructure.stop();
    folder.remove();
  });
});

function hexPort(port: number): string {
  return port.toString(16).toUpperCase().padStart(4, '0');
}
