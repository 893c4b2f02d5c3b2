import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from '../bench-error.js';
import { FilledTables } from '../measure/filled-tables.js';
import { percentile } from '../measure/statistics.js';
import type { BerthProgram } from '../programs/berth-program.js';
import type { Part, Section } from './part.js';

const AGENTS = 10;
/** The maximum number of entries in a list. */
const ENTRIES = 100;
const IDLE = 100_000;
/** Long enough to publish all lists before. */
const AHEAD_MS = 15_000;
const WITHIN_MS = 60_000;
/** A wake begins at most this late. */
const AIM_MS = 5_000;

interface Listed {
  readonly items: readonly { readonly nextWakeAt: string | null; readonly lastRunAt: string | null }[];
}

/** Entries of agents that sleep, due in a year. */
const insertIdle = (table: string): string => `
  INSERT INTO ${table} (agent_id, entry_id, account_id, due_at)
  SELECT 'agt_idle_' || n / ${String(ENTRIES)}, 'entry ' || n, 'acc_idle', now() + interval '1 year'
  FROM generate_series($1::integer, $2::integer) AS n`;

/** The delay of schedules that are all due in the same second, alone and beside many that are idle. */
export const schedulesPart: Part = {
  name: 'schedules',
  async run(context) {
    const { berth, parts } = await context.berthOnParts();
    const agents: string[] = [];
    for (let count = 0; count < AGENTS; count++)
      agents.push(await berth.createAgent(`schedules bench ${String(count)}`, 'blank'));
    const due = `${String(AGENTS * ENTRIES)} schedules due in the same second`;
    const alone = await drift(berth, agents, `${due}: how late each fires`);
    const tables = await FilledTables.open(parts.databaseUrl, context.log);
    try {
      await tables.fill('schedule_due', insertIdle, [], IDLE);
    } finally {
      await tables.close();
    }
    const idle = IDLE.toLocaleString('en');
    return [alone, await drift(berth, agents, `${due}, beside ${idle} idle ones: how late each fires`)];
  },
};

const drift = async (berth: BerthProgram, agents: readonly string[], title: string): Promise<Section> => {
  const dueAt = Date.now() + AHEAD_MS;
  await Promise.all(agents.map((id) => publish(berth, id, dueAt)));
  if (Date.now() > dueAt) throw new BenchError('The machine is too slow: the lists were published too late.');
  await sleep(dueAt - Date.now());
  const lists = await Promise.all(agents.map((id) => allFired(berth, id)));
  const late = lists.flat().map((at) => Date.parse(at) - dueAt);
  const items = [
    { name: 'p50', value: percentile(late, 0.5) },
    { name: 'p99', value: percentile(late, 0.99) },
    { name: 'the last one', value: percentile(late, 1) },
  ];
  return { kind: 'inventory', title, unit: 'ms', items, aim: AIM_MS };
};

/** Publishes with the token of the agent, as its program does. */
const publish = async (berth: BerthProgram, agentId: string, dueAt: number): Promise<void> => {
  const command = 'printf %s "$BERTH_AGENT_TOKEN"';
  const { stdout } = await berth.api.json<{ readonly stdout: string }>(
    'POST',
    `/api/agents/${agentId}/exec`,
    { command },
  );
  const nextRunAt = new Date(dueAt).toISOString();
  const entries = Array.from({ length: ENTRIES }, (_, index) => ({
    // One id fires at most once a minute.
    id: `entry ${String(index)} at ${nextRunAt}`,
    nextRunAt,
  }));
  await berth.as(stdout).json('PUT', '/agent/v1/schedules', { entries });
};

/** Returns when each entry fired. */
const allFired = async (berth: BerthProgram, agentId: string): Promise<readonly string[]> => {
  for (let waited = 0; waited < WITHIN_MS; waited += 250) {
    const { items } = await berth.api.json<Listed>('GET', `/api/agents/${agentId}/schedules`);
    const fired = items.flatMap(({ lastRunAt }) => lastRunAt ?? []);
    if (fired.length === ENTRIES) return fired;
    await sleep(250);
  }
  throw new BenchError('Not all schedules have fired.');
};
