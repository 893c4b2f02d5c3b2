import { randomUUID } from 'node:crypto';
import { readEnv } from '@berth/config';
import { EventStore, ProjectionRunner, type Projection } from '@berth/event-store';
import { isDomainError } from '@berth/kernel';
import { Database, openDatabase } from '@berth/persistence';
import { createLogger } from '@berth/telemetry';
import { eventually, startTestInfra, TcpProxy, type TestInfra } from '@berth/testing';
import { Injectable, Module, type Type } from '@nestjs/common';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  InjectProjection,
  launchService,
  PlatformModule,
  ProjectionModule,
  RunOnOneInstance,
  type LaunchedService,
  type Runnable,
} from './index.js';

/** More than PostgreSQL has connections. */
const QUERIES = 360;
/** For 120 instances. */
const CONNECTIONS = 100;
const CUT_OFF = 5;
const START_WITHIN_MS = 150_000;
const log = createLogger({ service: 'test', level: 'silent' });

const counted: Projection = {
  name: 'counted',
  version: 1,
  categories: ['thing'],
  createTables: async (tx, suffix) =>
    void (await tx.query(`CREATE TABLE counted_${suffix} (stream text PRIMARY KEY)`)),
  dropTables: async (tx, suffix) => void (await tx.query(`DROP TABLE IF EXISTS counted_${suffix} CASCADE`)),
  publish: async (tx, suffix) =>
    void (await tx.query(`CREATE OR REPLACE VIEW counted AS SELECT * FROM counted_${suffix}`)),
  apply: async (tx, suffix, events) =>
    void (await tx.query(`INSERT INTO counted_${suffix} SELECT DISTINCT * FROM unnest($1::text[])`, [
      events.map(({ stream }) => stream),
    ])),
};

/** For each service, the instances that currently do its exclusive work. */
const working = new Map<string, Set<object>>();
const overlaps: string[] = [];

const workOf = (name: string): Type<Runnable> => {
  @Injectable()
  @RunOnOneInstance({ name: 'timer' })
  class Timer implements Runnable {
    async run(signal: AbortSignal): Promise<void> {
      const now = working.get(name) ?? new Set();
      working.set(name, now);
      if (now.size > 0) overlaps.push(name);
      now.add(this);
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      now.delete(this);
    }
  }
  return Timer;
};

@Injectable()
class Reader {
  constructor(
    @InjectProjection(counted) readonly runner: ProjectionRunner,
    readonly store: EventStore,
    private readonly database: Database,
  ) {}

  /** Repeats the query while the database refuses it as unavailable, as real callers do. */
  async read(): Promise<unknown[]> {
    for (;;) {
      try {
        return await this.database.query('SELECT stream FROM counted');
      } catch (error) {
        if (!isDomainError(error, 'unavailable')) throw error;
      }
    }
  }
}

const serviceOf = (name: string): Type => {
  class Service {}
  Module({
    imports: [
      PlatformModule.forService({ name, tables: { migrations: [] } }),
      ProjectionModule.forFeature(counted),
    ],
    providers: [workOf(name), Reader],
  })(Service);
  return Service;
};

const areWorking = (names: readonly string[]): boolean =>
  names.every((name) => working.get(name)?.size === 1);

const through = (proxy: TcpProxy, url: string): string => {
  const proxied = new URL(url);
  proxied.port = String(proxy.port);
  return proxied.href;
};

/** The URL of the database for a new user, who may have so many connections. */
const limitedTo = async (connections: number, database: Database, url: string): Promise<string> => {
  const limited = new URL(url);
  const name = limited.pathname.slice(1);
  [limited.username, limited.password] = [`${name}_limited`, randomUUID()];
  await database.query(
    `CREATE ROLE ${limited.username} LOGIN PASSWORD '${limited.password}' CONNECTION LIMIT ${String(connections)}`,
  );
  await database.query(`GRANT ALL ON DATABASE ${name} TO ${limited.username}`);
  return limited.href;
};

/** Starts so many services with so many instances each in this process. */
export const describeConnections = (services: number, instances: number): void => {
  const names = Array.from({ length: services }, (_, n) => `service${String(n)}`);
  // In proportion, because enough of them would hold without any rule.
  const connections = Math.floor((CONNECTIONS * services * instances) / 120);
  const launched: LaunchedService[] = [];
  let infra: TestInfra;
  let observer: Database;
  let brokerProxy: TcpProxy;
  let databaseProxy: TcpProxy;

  const launch = async (module: Type, natsUrl: string, databaseUrl: string): Promise<LaunchedService> => {
    const reader = readEnv({
      NATS_URL: natsUrl,
      DATABASE_URL: databaseUrl,
      EVENTSTORE_URL: infra.eventStoreUrl,
    });
    const service = await launchService(module, { config: reader.done(reader.serviceEnv()), log });
    launched.push(service);
    return service;
  };

  beforeAll(async () => {
    infra = await startTestInfra({ parts: ['nats', 'eventStore', 'postgres'] });
    brokerProxy = await TcpProxy.start(infra.portOf('nats'));
    databaseProxy = await TcpProxy.start(infra.portOf('postgres'));
    const options = { schema: 'observer', migrations: [], applicationName: 'observer', log };
    observer = await openDatabase({ ...options, url: infra.databaseUrl });
    const limited = await limitedTo(connections, observer, infra.databaseUrl);
    const modules = names.map(serviceOf);
    // The instances launched first do the exclusive work. Those of some services connect through proxies that can be cut.
    const nats = through(brokerProxy, infra.natsUrl);
    const database = through(databaseProxy, limited);
    await Promise.all(modules.slice(0, CUT_OFF).map((module) => launch(module, nats, database)));
    await eventually(() => areWorking(names.slice(0, CUT_OFF)));
    const others = modules.flatMap((module, n) =>
      Array.from({ length: n < CUT_OFF ? instances - 1 : instances }, () => module),
    );
    await Promise.all(others.map((module) => launch(module, infra.natsUrl, limited)));
  }, START_WITHIN_MS);

  afterAll(async () => {
    brokerProxy.restore();
    databaseProxy.restore();
    await Promise.all(launched.map((service) => service.stop()));
    await observer.close();
    await Promise.all([brokerProxy.stop(), databaseProxy.stop()]);
    await infra.stop();
  });

  const sessions = async (): Promise<number> => {
    const [row] = await observer.query<{ count: string }>(
      `SELECT count(*) FROM pg_stat_activity WHERE application_name LIKE 'berth-service%'`,
    );
    return Number(row?.count);
  };

  describe(`${String(services)} services with ${String(instances)} instances each, started together on ${String(connections)} connections to PostgreSQL`, () => {
    it('do the exclusive work of each service in one instance', async () => {
      expect(launched).toHaveLength(services * instances);
      await eventually(() => areWorking(names));
      expect(overlaps).toEqual([]);
    });

    it('need about one connection for each service when they are idle', async () => {
      await eventually(async () => expect(await sessions()).toBeLessThanOrEqual(services + 5));
    });

    it('complete a burst of more queries than connections, refusing queries only as unavailable', async () => {
      const readers = launched.map(({ app }) => app.get(Reader));
      const burst = readers.flatMap((reader) =>
        Array.from({ length: QUERIES / readers.length }, () => reader.read()),
      );
      expect(await Promise.all(burst)).toEqual(burst.map(() => []));
      await eventually(async () => expect(await sessions()).toBeLessThanOrEqual(services + 5));
    });

    it('show a written event to every instance', async () => {
      const readers = launched.map(({ app }) => app.get(Reader));
      const metadata = {
        correlationId: 'c',
        causationId: 'c',
        accountId: 'acc_1',
        actor: { kind: 'system', id: 'test' },
      } as const;
      const event = { id: randomUUID(), type: 'ThingHappened', data: {}, metadata };
      const { position } = (await readers[0]?.store.append('thing-1', [event], 'no_stream')) ?? {
        position: 0n,
      };
      const reached = await Promise.all(readers.map(({ runner }) => runner.waitFor(position, 20_000)));
      expect(reached.every(Boolean)).toBe(true);
    });

    it('move exclusive work to another instance within three seconds of losing the one that did it', async () => {
      const cutOff = names.slice(0, CUT_OFF);
      const before = cutOff.map((name) => [...(working.get(name) ?? [])][0]);
      const began = performance.now();
      const durations: number[] = [];
      brokerProxy.cut({ refuse: true });
      databaseProxy.cut({ refuse: true });
      await Promise.all(
        cutOff.map(async (name, n) => {
          await eventually(() => areWorking([name]) && !working.get(name)?.has(before[n] ?? {}), {
            intervalMs: 5,
          });
          durations.push(performance.now() - began);
        }),
      );
      expect(Math.max(...durations)).toBeLessThan(3_000);
      expect(overlaps).toEqual([]);
    });
  });
};
