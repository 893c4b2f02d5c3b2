import { join } from 'node:path';
import { jetstream, jetstreamManager, type JetStreamManager } from '@nats-io/jetstream';
import { connect, type NatsConnection } from '@nats-io/transport-node';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { eventually, recordingLog, temporaryDataDir } from './embedded-bench.fixture.js';
import { startEmbedded, type EmbeddedInfrastructure } from './start-embedded.js';
import { SmallDisk } from './testing/small-disk.js';

/** A part that met a full disk works again within this time. */
const BACK_WITHIN_MS = 30_000;
/** Enough that the broker needs a second file before the disk is full. */
const MESSAGE_CHARS = 60_000;
const ELSEWHERE = {
  natsUrl: 'nats://127.0.0.1:1',
  eventStoreUrl: 'esdb://127.0.0.1:1?tls=false',
  databaseUrl: 'postgres://127.0.0.1:1/none',
};

describe.each([
  ['space', { mb: 48 }, (disk: SmallDisk) => disk.fill()],
  ['inodes', { mb: 48, inodes: 200 }, (disk: SmallDisk) => disk.fillInodes()],
])('after the disk of the broker had no %s left', (_what, size, fill) => {
  const folder = temporaryDataDir();
  let disk: SmallDisk;
  let infrastructure: EmbeddedInfrastructure;
  let connection: NatsConnection;
  let manager: JetStreamManager;

  beforeEach(async () => {
    disk = SmallDisk.inMemory(folder.dataDir, size);
    const { natsUrl: _broker, ...others } = ELSEWHERE;
    infrastructure = await startEmbedded({
      dataDir: join(folder.dataDir, 'data'),
      ...others,
      log: recordingLog(),
    });
    const { host, username: user, password: pass } = new URL(infrastructure.natsUrl);
    connection = await connect({
      servers: host,
      user,
      pass,
      maxReconnectAttempts: -1,
      reconnectTimeWait: 100,
    });
    manager = await jetstreamManager(connection, { timeout: 2_000 });
  });
  afterEach(async () => {
    await connection.close();
    await infrastructure.stop();
    disk.unmount();
    folder.remove();
  });

  it('every acknowledged message is there, and others are stored again, without help', async () => {
    await manager.streams.add({ name: 'KEPT', subjects: ['kept.>'] });
    const client = jetstream(connection, { timeout: 2_000 });
    const acknowledged: number[] = [];
    const publish = async (): Promise<boolean> =>
      client.publish('kept.message', 'x'.repeat(MESSAGE_CHARS)).then(
        ({ seq }) => acknowledged.push(seq) > 0,
        () => false,
      );
    await publish();
    fill(disk);
    let failed = 0;
    for (let round = 0; round < 400 && failed < 2; round++) if (!(await publish())) failed += 1;
    expect(failed).toBe(2);
    const isThere = (seq: number): Promise<boolean> =>
      manager.streams.getMessage('KEPT', { seq }).then(
        (message) => message?.data.length === MESSAGE_CHARS,
        () => false,
      );
    await eventually('a message can be read while the disk is full', () => isThere(1), BACK_WITHIN_MS);

    disk.free();
    await eventually('a message is acknowledged again', publish, BACK_WITHIN_MS);
    for (const seq of acknowledged) expect(await isThere(seq)).toBe(true);
  });
});

describe('after the disk of PostgreSQL had no space left', () => {
  const folder = temporaryDataDir();
  let disk: SmallDisk;
  let infrastructure: EmbeddedInfrastructure;
  let pool: pg.Pool;

  beforeEach(async () => {
    disk = SmallDisk.inMemory(folder.dataDir, { mb: 160 });
    const { databaseUrl: _database, ...others } = ELSEWHERE;
    infrastructure = await startEmbedded({
      dataDir: join(folder.dataDir, 'data'),
      ...others,
      log: recordingLog(),
    });
    pool = new pg.Pool({ connectionString: infrastructure.databaseUrl, max: 1 });
    pool.on('error', () => undefined);
  });
  afterEach(async () => {
    await pool.end();
    await infrastructure.stop();
    disk.unmount();
    folder.remove();
  });

  it('every committed row is there, and others are stored again, without help, also when it was killed meanwhile', async () => {
    await pool.query('CREATE TABLE kept (n serial, text text)');
    let committed = 0;
    const insert = async (): Promise<boolean> =>
      pool
        .query('INSERT INTO kept (text) SELECT repeat(md5(random()::text), 60) FROM generate_series(1, 500)')
        .then(
          () => (committed += 1) > 0,
          () => false,
        );
    expect(await insert()).toBe(true);
    disk.fill();
    await eventually('an insert fails', async () => !(await insert()));
    infrastructure.parts.postgres?.kill('SIGKILL');

    disk.free();
    await eventually('a row is committed again', insert, BACK_WITHIN_MS);
    expect((await pool.query('SELECT count(*) FROM kept')).rows).toEqual([
      { count: String(committed * 500) },
    ]);
  });
});
