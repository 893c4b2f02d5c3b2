import type { AnalystView } from '@berth/persistence';
import { DAY_MS } from '../meter/utc-day.js';
import { METERED_PARTS } from '../pricing/terms.js';
import { AGENTS } from '../meter/agents.kind.js';
import { sumsOf } from '../meter/metered-kind.js';

const D = String(DAY_MS);
const HOUR_MS = 3_600_000n;
/** Parts for each millisecond, at a rate of one millionth of a cent. */
const WEIGHTS = {
  vcpu: METERED_PARTS / HOUR_MS / 1_000_000n,
  mem: METERED_PARTS / HOUR_MS / 1_024n,
  disk: METERED_PARTS / HOUR_MS / 730n,
} as const;

/** The part of a time that began at `since` and goes on, in milliseconds of day `d.day`. */
const ongoing = (since: string): string =>
  `greatest(0, least(now_ms, (d.day + 1) * ${D}) - greatest(${since}, d.day * ${D}))`;

/** The same as far as it is in the period `p`. */
const ongoingIn = (since: string): string =>
  `greatest(0, least(now_ms, (d.day + 1) * ${D}, p.until_ms) - greatest(${since}, d.day * ${D}, p.since_ms))::numeric`;

/** Prices over time, with the end of each; seats have no rates. */
const PERIODS = `
  SELECT account_id, since_ms, hosting, month_price,
    lead(since_ms, 1, 9007199254740991) OVER (PARTITION BY account_id ORDER BY since_ms) AS until_ms,
    coalesce(vcpu_hour, 0) * ${WEIGHTS.vcpu} AS vcpu,
    coalesce(mem_gb_hour, 0) * ${WEIGHTS.mem} AS mem,
    coalesce(disk_gb_month, 0) * ${WEIGHTS.disk} AS disk
  FROM usage_terms`;

const ONGOING = `
  SELECT a.account_id, a.agent_id, d.day, t.active_ms,
    t.active_ms::numeric * a.vcpu_micros AS vcpu, t.active_ms::numeric * a.mem_mb AS mem,
    t.disk_ms::numeric * a.disk_gb AS disk,
    coalesce((
      SELECT sum(${ongoingIn('a.counted_ms')} * a.disk_gb * p.disk
        + CASE WHEN a.running_ms IS NULL THEN 0 ELSE
            ${ongoingIn('a.running_ms')} * (a.vcpu_micros * p.vcpu + a.mem_mb * p.mem) END)
      FROM periods p
      WHERE p.account_id = a.account_id AND p.since_ms < (d.day + 1) * ${D} AND p.until_ms > d.day * ${D}
    ), 0) AS metered,
    0 AS wakes, 0 AS chats, 0 AS executions, 0 AS llm_requests, 0 AS input_tokens, 0 AS output_tokens, 0 AS ai
  FROM clock CROSS JOIN usage_agents a
  CROSS JOIN LATERAL generate_series(
    least(a.counted_ms, coalesce(a.running_ms, a.counted_ms)) / ${D}, now_ms / ${D}
  ) AS d (day)
  CROSS JOIN LATERAL (SELECT ${ongoing('a.counted_ms')} AS disk_ms,
    CASE WHEN a.running_ms IS NULL THEN 0 ELSE ${ongoing('a.running_ms')} END AS active_ms) AS t
  WHERE a.deleted_ms IS NULL`;

const FIGURES_OF_DAYS = [
  ...['active_ms', 'vcpu', 'mem', 'disk', 'metered', 'wakes', 'chats', 'executions'],
  ...['llm_requests', 'input_tokens', 'output_tokens', 'ai'],
];
const COUNTED = sumsOf(AGENTS);

/** 0 for a figure that days do not count. */
const figure = (name: string): string => (COUNTED.includes(name) ? name : `0::numeric AS ${name}`);

/** A day's part of the price of a month: equal parts, of which the first days get one millionth more each. */
const SHARE = `
  SELECT floor(price / days) + CASE WHEN of_month <= mod(price, days) THEN 1 ELSE 0 END
  FROM (SELECT p.month_price AS price, extract(day FROM date)::int AS of_month,
    extract(day FROM date_trunc('month', date) + interval '1 month - 1 day')::int AS days
    FROM (SELECT date '1970-01-01' + d.day::int AS date) AS this) AS month`;

const METERED = `div(2 * metered + ${METERED_PARTS}, 2 * ${METERED_PARTS})`;

/** Cents, activity and names of each agent and day. The plan at the end of a day prices the whole day, today's the plan now. */
const DAILY = `
  WITH clock AS (SELECT floor(extract(epoch FROM now()) * 1000)::bigint AS now_ms),
  periods AS (${PERIODS}),
  used AS (
    SELECT account_id, agent_id, day, ${FIGURES_OF_DAYS.map(figure).join(', ')} FROM usage_days UNION ALL ${ONGOING}
  ),
  d AS (
    SELECT account_id, agent_id, day, ${FIGURES_OF_DAYS.map((name) => `sum(${name}) AS ${name}`).join(', ')}
    FROM used GROUP BY account_id, agent_id, day
  ),
  shared AS (
    SELECT d.*, (${SHARE}) AS share
    FROM clock CROSS JOIN d LEFT JOIN periods p ON p.account_id = d.account_id AND p.hosting = 'seat'
      AND p.since_ms < least((d.day + 1) * ${D}, now_ms + 1) AND p.until_ms >= least((d.day + 1) * ${D}, now_ms + 1)
  ),
  floored AS (
    SELECT shared.*,
      CASE WHEN active_ms = 0 THEN 0
        ELSE div(share * active_ms, sum(active_ms) OVER (PARTITION BY account_id, day)) END AS part,
      row_number() OVER (PARTITION BY account_id, day ORDER BY active_ms DESC, agent_id COLLATE "C") AS rank
    FROM shared
  ),
  priced AS (
    SELECT floored.*,
      CASE WHEN share IS NULL THEN ${METERED} WHEN active_ms = 0 THEN 0
        ELSE part + CASE WHEN rank <= share - sum(part) OVER (PARTITION BY account_id, day) THEN 1 ELSE 0 END
      END AS hosting
    FROM floored
  )
  SELECT date '1970-01-01' + day::int AS date, account_id, agent_id, a.name AS agent_name, a.external_id,
    a.external_user_id, CASE WHEN share IS NULL THEN 'metered' ELSE 'allocated' END AS hosting_basis,
    round(active_ms / 1000, 3) AS active_seconds, round(active_ms / 60000, 6) AS compute_minutes,
    round(vcpu / 1000000000, 6) AS vcpu_seconds, round(mem / 1024000, 6) AS mem_gb_seconds,
    round(disk / 1000, 3) AS disk_gb_seconds,
    wakes::bigint, chats::bigint, executions::bigint, llm_requests::bigint,
    input_tokens::bigint AS llm_input_tokens, output_tokens::bigint AS llm_output_tokens,
    round(hosting / 1000000, 6) AS hosting_cents, round(ai / 1000000, 6) AS ai_cents,
    round((hosting + ai) / 1000000, 6) AS total_cents
  FROM priced JOIN usage_agents a USING (account_id, agent_id)`;

const FIGURES = {
  active_seconds: 'Seconds in which the agent was running.',
  compute_minutes: 'The same in minutes.',
  vcpu_seconds: 'Active seconds times the CPUs of the agent.',
  mem_gb_seconds: 'Active seconds times the memory of the agent in GiB.',
  disk_gb_seconds: 'Seconds of existence times the disk of the agent in GiB.',
  wakes: 'Starts from sleeping or stopped.',
  chats: 'Messages handed over to the agent.',
  executions: 'Commands submitted.',
  llm_requests: 'LLM calls that were sent.',
  llm_input_tokens: 'All input tokens of these calls.',
  llm_output_tokens: 'All output tokens of these calls.',
  hosting_cents: 'The price of hosting, in cents with six decimals.',
  ai_cents: 'The cost of LLM calls, in cents with six decimals.',
  total_cents: 'Hosting and LLM calls together.',
} as const;

const NAMES = {
  account_id: 'The account of the agent.',
  agent_id: 'The agent, also after it was deleted.',
  agent_name: 'The name of the agent; null once its end user is deleted.',
  external_id: 'What the owner calls the agent; null once its end user is deleted.',
  external_user_id:
    'What the owner calls the end user of the agent; null without one, and once it is deleted.',
} as const;

/** `analytics.usage_daily` */
export const USAGE_DAILY: AnalystView = {
  name: 'usage_daily',
  comment: 'What each agent used on each day (UTC) on which it existed. Today counts up to now.',
  query: DAILY,
  columns: {
    date: 'The day in UTC.',
    ...NAMES,
    hosting_basis: 'metered, or allocated: a share of the price of a plan with seats.',
    ...FIGURES,
  },
};

/** `analytics.usage_by_agent` */
export const USAGE_BY_AGENT: AnalystView = {
  name: 'usage_by_agent',
  comment: 'What each agent used since it was created, and when it was last active.',
  query: `
    SELECT account_id, agent_id, agent_name, external_id, external_user_id,
      min(date) AS first_date, max(date) FILTER (WHERE active_seconds > 0) AS last_active_date,
      (SELECT to_timestamp(a.deleted_ms / 1000.0) FROM usage_agents a WHERE a.agent_id = daily.agent_id) AS deleted_at,
      ${Object.keys(FIGURES)
        .map((name) => `sum(${name}) AS ${name}`)
        .join(', ')}
    FROM analytics.usage_daily daily
    GROUP BY account_id, agent_id, agent_name, external_id, external_user_id`,
  columns: {
    ...NAMES,
    first_date: 'The day on which the agent was created.',
    last_active_date: 'The last day on which the agent was running; null if it never was.',
    deleted_at: 'When the deletion was accepted; null while the agent exists.',
    ...FIGURES,
  },
};
