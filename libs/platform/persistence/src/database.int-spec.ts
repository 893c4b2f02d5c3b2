import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { EntitySchema } from 'typeorm';
import { startTestInfra, TcpProxy, eventually, type TestInfra } from '@berth/testing';
import { DomainError } from '@berth/kernel';
import { openDatabase, type Database, type DatabaseOptions } from './index.js';

const quiet = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};
const unavailable = expect.objectContaining({ kind: 'unavailable', code: 'service_unavailable' }) as unknown;

interface Note {
  id: string;
  text: string;
}

const noteEntity = new EntitySchema<Note>({
  name: 'note',
  columns: { id: { type: 'text', primary: true }, text: { type: 'text' } },
});

let infra: TestInfra;
let proxy: TcpProxy;
let proxied: string;
const open: Database[] = [];

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['postgres'] });
  const url = new URL(infra.databaseUrl);
  proxy = await TcpProxy.start(Number(url.port));
  url.port = String(proxy.port);
  proxied = url.href;
});

afterEach(async () => {
  proxy.restore();
  await Promise.all(open.splice(0).map((database) => database.close()));
});

afterAll(async () => {
  await proxy.stop();
  await infra.stop();
});

const database = async (options: Partial<DatabaseOptions> = {}): Promise<Database> => {
  const opened = await openDatabase({
    url: infra.databaseUrl,
    schema: 'notes',
    migrations: [
      {
        name: '2026-01-01-create-note',
        up: async (sql) => void (await sql.query('CREATE TABLE note (id text PRIMARY KEY, text text)')),
      },
    ],
    applicationName: 'test',
    log: quiet,
    ...options,
  });
  open.push(opened);
  return opened;
};

const elapsed = async (work: Promise<unknown>): Promise<{ failure: unknown; millis: number }> => {
  const began = performance.now();
  const failure = await work.then(
    () => undefined,
    (error: unknown) => error,
  );
  return { failure, millis: performance.now() - began };
};

describe('statements and transactions', () => {
  it('run in the schema of the database and pass values separately from the text', async () => {
    const db = await database();
    await db.query('INSERT INTO note VALUES ($1, $2)', ['quote', `'; DROP TABLE note; --`]);
    expect(await db.query('SELECT text FROM notes.note WHERE id = $1', ['quote'])).toEqual([
      { text: `'; DROP TABLE note; --` },
    ]);
  });

  it('return rows from every kind of statement', async () => {
    const db = await database();
    expect(await db.query(`INSERT INTO note VALUES ('r', 'a') RETURNING id`)).toEqual([{ id: 'r' }]);
    expect(await db.query(`UPDATE note SET text = 'b' WHERE id = 'r' RETURNING text`)).toEqual([
      { text: 'b' },
    ]);
    expect(await db.query(`DELETE FROM note WHERE id = 'r' RETURNING id`)).toEqual([{ id: 'r' }]);
  });

  it('carry log positions without losing a digit', async () => {
    const db = await database();
    const position = 18_446_744_073_709_551_615n;
    const [row] = await db.query<{ p: string }>('SELECT $1::numeric(20) AS p', [position.toString()]);
    expect(BigInt(row?.p ?? 0)).toBe(position);
  });

  it('roll back when the work throws, and rethrow its error', async () => {
    const db = await database();
    const refusal = new DomainError('conflict', 'taken', 'Choose another.');
    const work = db.transaction(async (tx) => {
      await tx.query(`INSERT INTO note VALUES ('gone', '')`);
      throw refusal;
    });
    await expect(work).rejects.toBe(refusal);
    expect(await db.query(`SELECT * FROM note WHERE id = 'gone'`)).toEqual([]);
  });

  it('distinguish a faulty statement from an unavailable server', async () => {
    const db = await database();
    await expect(db.query('SELECT * FROM nowhere')).rejects.toMatchObject({ code: '42P01' });
    await expect(db.ping()).resolves.toBeUndefined();
  });

  it('read a view that was redefined over tables of another shape between two queries', async () => {
    const db = await database();
    await db.query('CREATE VIEW shape AS SELECT 1 AS value');
    const read = (): Promise<unknown[]> => db.query('SELECT * FROM shape WHERE $1', [true]);
    expect(await read()).toEqual([{ value: 1 }]);
    await db.query('DROP VIEW shape');
    await db.query(`CREATE VIEW shape AS SELECT 'one' AS value, 2 AS more`);
    for (const attempt of [1, 2, 3])
      expect(await read(), `attempt ${attempt}`).toEqual([{ value: 'one', more: 2 }]);
  });

  it('prepare the statements of a transaction on request, and those of a redefined view again', async () => {
    const db = await database();
    await db.query('CREATE VIEW narrow AS SELECT 1 AS value');
    const text = 'SELECT * FROM narrow WHERE $1';
    const read = (prepared: boolean): Promise<readonly unknown[]> =>
      db.transaction(
        async (tx) => [
          ...(await tx.query(text, [true])),
          ...(await tx.query('SELECT FROM pg_prepared_statements WHERE statement = $1', [text])),
        ],
        { prepared },
      );
    expect(await read(false)).toEqual([{ value: 1 }]);
    expect(await read(true)).toEqual([{ value: 1 }, {}]);
    await db.query('DROP VIEW narrow');
    await db.query('CREATE VIEW narrow AS SELECT 2 AS value, 3 AS more');
    await expect(read(true)).rejects.toMatchObject({ code: '0A000' });
    expect((await read(true))[0]).toEqual({ value: 2, more: 3 });
  });

  it('of TypeORM entities commit together', async () => {
    const db = await database({ entities: [noteEntity] });
    await db.entities(async (manager) => {
      await manager.getRepository(noteEntity).insert([{ id: 'e1', text: 'x' }]);
    });
    const failing = db.entities(async (manager) => {
      await manager.getRepository(noteEntity).insert([{ id: 'e2', text: 'x' }]);
      throw new Error('no');
    });
    await expect(failing).rejects.toThrow('no');
    expect(await db.query(`SELECT id FROM note WHERE id LIKE 'e_'`)).toEqual([{ id: 'e1' }]);
  });
});

describe('migrations', () => {
  it('run once, in order, when several processes start at the same time', async () => {
    const ran: string[] = [];
    const migrations = ['2026-01-02-b', '2026-01-01-a'].map((name) => ({
      name,
      up: async () => void ran.push(name),
    }));
    await Promise.all([1, 2, 3].map(() => database({ schema: 'together', migrations })));
    expect(ran).toEqual(['2026-01-02-b', '2026-01-01-a']);
  });

  it('that fail are rolled back, stop the later ones, and run again on the next start', async () => {
    let broken = true;
    const migrations = [
      {
        name: 'one',
        up: async (sql: { query: Database['query'] }) => {
          await sql.query('CREATE TABLE half (id int)');
          if (broken) throw new Error('broken');
        },
      },
      {
        name: 'two',
        up: async (sql: { query: Database['query'] }) => void (await sql.query('SELECT * FROM half')),
      },
    ];
    await expect(database({ schema: 'failing', migrations })).rejects.toThrow('broken');
    broken = false;
    const db = await database({ schema: 'failing', migrations });
    expect(await db.query('SELECT name FROM migrations ORDER BY ran_at')).toEqual([
      { name: 'one' },
      { name: 'two' },
    ]);
  });

  it('with the same name are refused before any of them runs', async () => {
    const migrations = ['x', 'x'].map((name) => ({ name, up: async () => undefined }));
    await expect(database({ schema: 'twice', migrations })).rejects.toThrow(/named x/);
  });
});

describe('an unavailable server', () => {
  it('is awaited at the start', async () => {
    proxy.cut({ refuse: true });
    const opening = database({ url: proxied });
    let opened = false;
    void opening.then(() => (opened = true));
    expect((await elapsed(database({ url: proxied, waitMs: 100 }))).failure).toEqual(unavailable);
    expect(opened).toBe(false);
    proxy.restore();
    await expect((await opening).ping()).resolves.toBeUndefined();
  });

  it('is awaited no longer than configured', async () => {
    proxy.cut({ refuse: true });
    const { failure, millis } = await elapsed(database({ url: proxied, waitMs: 300 }));
    expect(failure).toEqual(unavailable);
    // By default the wait is a minute.
    expect(millis).toBeLessThan(10_000);
  });

  it('makes calls fail as unavailable immediately, and is used again when it is back', async () => {
    const db = await database({ url: proxied });
    proxy.cut({ refuse: true });
    for (const call of [
      db.ping(),
      db.transaction((tx) => tx.query('SELECT 1')),
      db.entities(async () => 1),
    ]) {
      const { failure, millis } = await elapsed(call);
      expect(failure).toEqual(unavailable);
      expect(millis).toBeLessThan(4_000);
    }
    proxy.restore();
    await expect(db.ping()).resolves.toBeUndefined();
  });

  it('that freezes makes every call fail within four seconds, and is used again when it thaws', async () => {
    const db = await database({ url: proxied, poolSize: 2 });
    await Promise.all([db.ping(), db.ping()]);
    proxy.freeze();
    const calls = [1, 2, 3, 4].map(() => elapsed(db.ping()));
    const tx = elapsed(db.transaction((sql) => sql.query('SELECT 1')));
    const entities = elapsed(db.entities((manager) => manager.query('SELECT 1')));
    for (const { failure, millis } of await Promise.all([...calls, tx, entities])) {
      expect(failure).toEqual(unavailable);
      expect(millis).toBeLessThan(4_600);
    }
    proxy.thaw();
    await expect(db.ping()).resolves.toBeUndefined();
  });

  it('ends a running transaction as unavailable and stores none of its rows', async () => {
    const db = await database({ url: proxied });
    const work = db.transaction(async (tx) => {
      await tx.query(`INSERT INTO note VALUES ('cut', '')`);
      proxy.cut();
      await eventually(() => proxy.connections === 0);
      await tx.query('SELECT 1');
    });
    await expect(work).rejects.toEqual(unavailable);
    expect(await db.query(`SELECT * FROM note WHERE id = 'cut'`)).toEqual([]);
  });

  it('cannot fill the pool with dead connections', async () => {
    const db = await database({ url: proxied, poolSize: 2 });
    for (let round = 0; round < 5; round++) {
      await Promise.all([db.ping(), db.ping()]);
      proxy.cut();
      await eventually(() => db.ping().then(() => true));
    }
    const statements = await Promise.all([1, 2, 3, 4].map(() => db.query('SELECT 1 AS one')));
    expect(statements.flat()).toHaveLength(4);
  });
});
