import { randomUUID } from 'node:crypto';
import { connectEventStore, ProjectionRunner, type EventStore, type Projection } from '@berth/event-store';
import { EventConsumer, EventRelay, NatsLink } from '@berth/messaging';
import { openDatabase, type Database } from '@berth/persistence';
import { Supervisor } from '@berth/supervision';
import { createLogger } from '@berth/telemetry';
import { eventually, NatsServer, startTestInfra, TcpProxy, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const lines: { msg: string; work?: string }[] = [];
const log = createLogger({
  service: 'boats',
  destination: { write: (line) => void lines.push(JSON.parse(line) as (typeof lines)[number]) },
});

const boatList: Projection = {
  name: 'boat_list',
  version: 1,
  categories: ['boat'],
  createTables: async (tx, suffix) => {
    await tx.query(`CREATE TABLE boat_list_${suffix} (id text PRIMARY KEY)`);
  },
  dropTables: async (tx, suffix) => {
    await tx.query(`DROP TABLE IF EXISTS boat_list_${suffix}`);
  },
  publish: async (tx, suffix) => {
    await tx.query(`CREATE OR REPLACE VIEW boat_list AS SELECT * FROM boat_list_${suffix}`);
  },
  apply: async (tx, suffix, events) => {
    const ids = events.map(({ id }) => id);
    await tx.query(`INSERT INTO boat_list_${suffix} (id) SELECT unnest($1::text[])`, [ids]);
  },
};

describe('projection, relay and consumer of a service are back at work soon after an outage of', () => {
  let infra: TestInfra;
  let broker: NatsServer;
  let logProxy: TcpProxy;
  let databaseProxy: TcpProxy;
  let link: NatsLink;
  let store: EventStore;
  let writer: EventStore;
  let database: Database;
  let reader: Database;
  const supervisor = new Supervisor('boats', log);

  beforeAll(async () => {
    infra = await startTestInfra({ parts: ['eventStore', 'postgres'] });
    broker = await NatsServer.start();
    logProxy = await TcpProxy.start(infra.portOf('eventStore'));
    databaseProxy = await TcpProxy.start(infra.portOf('postgres'));
    link = await NatsLink.open({ url: broker.url, name: 'boats', log });
    store = connectEventStore({ url: `esdb://127.0.0.1:${logProxy.port}?tls=false`, log });
    writer = connectEventStore({ url: infra.eventStoreUrl, log });
    const url = new URL(infra.databaseUrl);
    const tables = { schema: 'boats', migrations: [], applicationName: 'boats', log };
    reader = await openDatabase({ ...tables, url: url.href });
    await reader.query('CREATE TABLE effect (id text PRIMARY KEY)');
    url.port = String(databaseProxy.port);
    database = await openDatabase({ ...tables, url: url.href });
    startWork();
  });
  afterAll(async () => {
    await supervisor.stop();
    await link.close();
    await Promise.all([store.close(), writer.close(), database.close(), reader.close()]);
    await Promise.all([broker.stop(), logProxy.stop(), databaseProxy.stop()]);
    await infra.stop();
  });

  const startWork = (): void => {
    const parts = { store, link, database, log, context: 'agents' };
    const runner = new ProjectionRunner({ store, database, projection: boatList, log });
    const relay = new EventRelay({
      ...parts,
      categories: ['boat'],
      toContractEvent: ({ stream }) => ({
        subject: `evt.agents.launched.v1.acc_1.${stream.slice('boat-'.length)}`,
        payload: {},
      }),
    });
    const consumer = new EventConsumer({
      ...parts,
      durable: 'boats',
      filterSubjects: ['evt.agents.launched.v1.*.*'],
      handle: async ({ id }, tx) => {
        await tx.query('INSERT INTO effect (id) VALUES ($1)', [id]);
      },
    });
    supervisor.start('projection', (signal) => runner.run(signal));
    supervisor.start('relay', (signal) => relay.run(signal));
    supervisor.start('consumer', (signal) => consumer.run(signal));
  };

  /** Appends an event, and resolves once it is in the projection and was consumed. */
  const expectAtWork = async (timeoutMs: number): Promise<void> => {
    const id = randomUUID();
    const actor = { kind: 'system', id: 'test' } as const;
    const metadata = { correlationId: 'req_1', causationId: 'cmd_1', accountId: 'acc_1', actor };
    await writer.append(`boat-${id}`, [{ id, type: 'Launched', data: {}, metadata }], 'no_stream');
    for (const table of ['boat_list', 'effect'])
      await eventually(
        async () => expect(await reader.query(`SELECT 1 FROM ${table} WHERE id = $1`, [id])).toHaveLength(1),
        { timeoutMs },
      );
  };

  const failing = (): string[] => supervisor.failing.map(({ work }) => work);

  const outages = [
    {
      part: 'the broker',
      breaks: ['relay'],
      begin: () => broker.kill(),
      end: () => broker.resume(),
    },
    {
      part: 'the event log',
      breaks: ['projection', 'relay'],
      begin: () => logProxy.cut({ refuse: true }),
      end: () => logProxy.restore(),
    },
    {
      part: 'the database',
      breaks: ['projection', 'relay'],
      begin: () => databaseProxy.cut({ refuse: true }),
      end: () => databaseProxy.restore(),
    },
  ];

  it.each(outages)('$part, which is reported while it lasts', async ({ breaks, begin, end }) => {
    await expectAtWork(20_000);
    await eventually(() => expect(failing()).toEqual([]), { timeoutMs: 25_000 });
    lines.length = 0;
    await begin();
    await eventually(() => expect(failing()).toEqual(expect.arrayContaining(breaks)));
    await end();
    await expectAtWork(10_000);
    for (const work of breaks)
      expect(lines.filter((line) => line.work === work && line.msg.includes('failed'))).toHaveLength(1);
  });
});
