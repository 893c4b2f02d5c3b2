import { usageProjection } from '@berth/billing/usage-projection';
import { connectEventStore, ProjectionRunner } from '@berth/event-store';
import { openDatabase } from '@berth/persistence';
import { EventStoreDBClient } from '@eventstore/db-client';
import { BenchError } from '../bench-error.js';
import type { BenchContext } from '../context.js';
import { compare, type Comparison } from '../measure/compare.js';
import { FilledTables } from '../measure/filled-tables.js';
import { repeatedSide } from '../measure/repeated-side.js';
import { fillYear } from '../rebuild/fill-year.js';
import { bulkSide, readBare, readPort, rebuild } from '../rebuild/whole-log.js';
import type { Part, Section } from './part.js';

/** Numbers of agents as shares of `effort.rebuildEvents`: with full effort, 1,000 for reading and 10,000 for the rebuild. */
const LISTED_SHARE = 0.01;
const REBUILT_SHARE = 0.1;
const DAYS = 400;
const DAY_MS = 86_400_000;
const SUMS = [
  'active_ms',
  'vcpu',
  'mem',
  'disk',
  'metered',
  'wakes',
  'chats',
  'executions',
  'llm_requests',
  'input_tokens',
  'output_tokens',
  'ai',
];

/** Reads the usage of an account over the longest range that a request may have, and rebuilds usage from the log. */
export const usagePart: Part = {
  name: 'usage',
  async run(context) {
    const read = await reading(context);
    // The rebuild fills the log with agents that no Berth can run: their events have only what usage needs.
    await context.discardInfrastructure();
    try {
      return [...read, await rebuilding(context)];
    } finally {
      await context.discardInfrastructure();
    }
  },
};

/** Sleeping agents whose usage has been counted until today 00:00 UTC; `$2` is today. */
const insertAgents = (table: string): string => `
  INSERT INTO ${table} (agent_id, account_id, name, created_ms, state, counted_ms, vcpu_micros, mem_mb, disk_gb)
  SELECT 'agt_' || lpad(n::text, 26, '0'), $1, 'agent ' || n, ($2::bigint - ${String(DAYS)}) * ${String(DAY_MS)}, 'resting',
    $2::bigint * ${String(DAY_MS)}, 500000, 512, 2
  FROM generate_series($3::integer, $4::integer) AS n`;

/** The usage of each agent on each day up to yesterday; `$2` is today, `$3` the number of agents. */
const insertDays = (table: string): string => `
  INSERT INTO ${table} (account_id, day, agent_id, ${SUMS.join(', ')})
  SELECT $1, $2::bigint - 1 - (n - 1) / $3::integer, 'agt_' || lpad((1 + (n - 1) % $3::integer)::text, 26, '0'),
    3600000 + n % 1000, 1800000000000 + n, 1843200000 + n, 172800000, 5000000000000 + n, 2, 9, 4, 9, 12000, 3000,
    250000 + n
  FROM generate_series($4::integer, $5::integer) AS n`;

const reading = async (context: BenchContext): Promise<readonly Section[]> => {
  const { effort, log } = context;
  const { berth, parts } = await context.berthOnParts();
  const tables = await FilledTables.open(parts.databaseUrl, log);
  try {
    const agents = Math.round(effort.rebuildEvents * LISTED_SHARE);
    const today = Math.floor(Date.now() / DAY_MS);
    const { id } = await berth.api.json<{ id: string }>('GET', '/api/v1/account');
    await tables.fill('usage_agents', insertAgents, [id, today], agents);
    await tables.fill('usage_days', insertDays, [id, today, agents], agents * (DAYS - 1));
    const table = await tables.nameOf('usage_days');
    const range = `from=${dateOf(today - DAYS + 1)}&to=${dateOf(today + 1)}`;
    const often = { concurrency: 1, warmUpMs: effort.longWarmUpMs, roundMs: effort.longRoundMs };
    const measured = (path: string, sql: string): Promise<Comparison> => {
      const plan = {
        title: `GET ${path} of ${DAYS} days of ${agents.toLocaleString('en')} agents`,
        measure: 'time',
        ours: repeatedSide('GET', often, () => berth.api.call('GET', `${path}?${range}`)),
        limits: [
          repeatedSide('plain SQL: the same rows and totals', often, () =>
            tables.read(sql, [id, today - DAYS + 1, today + 1]),
          ),
        ],
      } as const;
      return compare(plan, effort.longRounds);
    };
    return [
      await measured('/api/v1/usage', plainStatement(table, ['agent_id'])),
      await measured('/api/v1/usage/daily', plainStatement(table, ['day', 'agent_id'])),
    ];
  } finally {
    await tables.close();
  }
};

const dateOf = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10);

/** A page of 10,000 rows, each with the totals of all rows, but without prices and without usage in progress. */
const plainStatement = (table: string, by: readonly string[]): string => `
  WITH used AS MATERIALIZED (
    SELECT ${by.join(', ')}, ${SUMS.map((name) => `sum(${name}) AS ${name}`).join(', ')} FROM ${table}
    WHERE account_id = $1 AND day >= $2::bigint AND day < $3::bigint GROUP BY ${by.join(', ')}
  )
  SELECT used.*, totals.*
  FROM used, (SELECT ${SUMS.map((name) => `sum(${name}) AS all_${name}`).join(', ')} FROM used) AS totals
  ORDER BY ${by.join(', ')} LIMIT 10000`;

/** Like the part `rebuild`, but with the projection of `billing`. */
const rebuilding = async (context: BenchContext): Promise<Comparison> => {
  const { effort, log } = context;
  const { eventStoreUrl, databaseUrl } = await context.infrastructure();
  const client = EventStoreDBClient.connectionString(eventStoreUrl);
  const store = connectEventStore({ url: eventStoreUrl, log });
  const options = { schema: 'bench', migrations: [], applicationName: 'bench', log };
  const database = await openDatabase({ ...options, url: databaseUrl });
  try {
    const agents = Math.round(effort.rebuildEvents * REBUILT_SHARE);
    await fillYear(client, agents);
    const projection = usageProjection({
      find: () => Promise.reject(new BenchError('No agent of the bench belongs to an end user.')),
    });
    const runner = new ProjectionRunner({ store, database, projection, log });
    const plan = {
      title: `Rebuild of the usage of a year of ${agents.toLocaleString('en')} agents`,
      measure: 'rate',
      unit: 'events',
      // A rebuild takes minutes with full effort, long enough for one round without a warm-up.
      ours: {
        ...bulkSide('ProjectionRunner.rebuild', () => rebuild(runner)),
        warmUp: () => Promise.resolve(),
      },
      limits: [
        bulkSide('bare EventStoreDBClient.readAll', () => readBare(client)),
        bulkSide('EventStore port, read and discarded', () => readPort(store, projection.categories)),
      ],
    } as const;
    return await compare(plan, 1);
  } finally {
    await database.close();
    await store.close();
    await client.dispose();
  }
};
