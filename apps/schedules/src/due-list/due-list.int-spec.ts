import { openDatabase, type Database } from '@berth/persistence';
import { startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { silent } from '../fixtures/fake-services.fixture.js';
import { dueListProjection } from './due-list.projection.js';
import { DueListQuery } from './due-list.query.js';

const ENTRIES = 100_000;
const BATCH = 500;
const NOW = Date.parse('2026-11-23T10:00:00.000Z');

interface Plan {
  readonly 'Node Type': string;
  readonly 'Index Name'?: string;
  readonly 'Actual Rows': number;
  readonly Plans?: readonly Plan[];
}

let infra: TestInfra;
let database: Database;

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['postgres'] });
  const options = { schema: 'due_list_test', migrations: [], applicationName: 'test', log: silent };
  database = await openDatabase({ ...options, url: infra.databaseUrl });
  await database.transaction(async (tx) => {
    await dueListProjection.createTables(tx, 'test');
    await dueListProjection.publish(tx, 'test');
  });
});
afterAll(async () => {
  await database.close();
  await infra.stop();
});

/** Replaces all entries: a hundred each of a thousand agents, the first of them due a minute ago. */
const fill = async (due: number): Promise<void> => {
  await database.query('TRUNCATE schedule_due_test');
  await database.query(
    `INSERT INTO schedule_due_test (agent_id, entry_id, account_id, due_at)
     SELECT 'agt_' || n % 1000, 'entry ' || n / 1000, 'acc_1',
       $1::timestamptz + (n * CASE WHEN n < $2 THEN interval '-1 millisecond' ELSE interval '1 second' END)
       + CASE WHEN n < $2 THEN interval '-1 minute' ELSE interval '1 minute' END
     FROM generate_series(0, $3::integer - 1) n`,
    [new Date(NOW), due, ENTRIES],
  );
  await database.query('ANALYZE schedule_due_test');
};

/** The plan of the look-up that timers make every second, as it runs; prepared, because services prepare it. */
const planOf = (plans: 'force_custom_plan' | 'force_generic_plan'): Promise<Plan> =>
  database.transaction(async (tx) => {
    let text = '';
    const recorder = {
      query: <Row>(sql: string): Promise<Row[]> => {
        text = sql;
        return Promise.resolve([]);
      },
    };
    await new DueListQuery(recorder).due(NOW, BATCH);
    await tx.query(`SET LOCAL plan_cache_mode = ${plans}`);
    await tx.query(`PREPARE look_up (timestamptz, bigint) AS ${text}`);
    const at = new Date(NOW).toISOString();
    const [row] = await tx.query<{ 'QUERY PLAN': readonly [{ readonly Plan: Plan }] }>(
      `EXPLAIN (ANALYZE, FORMAT JSON) EXECUTE look_up ('${at}', ${String(BATCH)})`,
    );
    await tx.query('DEALLOCATE look_up');
    if (row === undefined) throw new Error('There is no plan.');
    return row['QUERY PLAN'][0].Plan;
  });

const nodesOf = (plan: Plan): readonly Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

describe('the look-up of what is due, of 100,000 entries', () => {
  it.each([0, 3, ENTRIES])(
    'is one look-up in the index of times that reads only what it returns, while %i are due',
    async (due) => {
      await fill(due);
      for (const plans of ['force_custom_plan', 'force_generic_plan'] as const) {
        const nodes = nodesOf(await planOf(plans));
        expect(nodes.map((node) => node['Node Type'])).toEqual(['Limit', 'Index Scan']);
        expect(nodes[1]?.['Index Name']).toBe('schedule_due_test_due_at_idx');
        expect(nodes[1]?.['Actual Rows']).toBe(Math.min(due, BATCH));
      }
      expect(await new DueListQuery(database).due(NOW, BATCH)).toHaveLength(Math.min(due, BATCH));
    },
  );
});
