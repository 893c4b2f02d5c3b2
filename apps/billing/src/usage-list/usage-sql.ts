import { METERED_PARTS } from '../pricing/terms.js';
import { DAY_MS } from '../meter/utc-day.js';

/** What a statement about usage differs in. */
export interface UsageShape {
  readonly daily: boolean;
  /** Whether some day of the range has the price of a seat plan, which all agents of the account share. */
  readonly hasSeatDays: boolean;
  /** Whether some period of the range has a rate other than 0. */
  readonly hasRates: boolean;
  readonly byAgent: boolean;
  readonly byEndUser: boolean;
  readonly hasCursor: boolean;
}

/** The parameters, in this order; those of a part that the shape leaves out are not sent. */
export const PARAMETERS = ['account', 'from', 'to', 'asOf', 'days', 'shares', 'limit'] as const;

export const SUMS = [
  'active_ms',
  'vcpu',
  'mem',
  'disk',
  'wakes',
  'chats',
  'executions',
  'llm_requests',
  'input_tokens',
  'output_tokens',
  'ai',
] as const;

const summed = (names: readonly string[]): string =>
  names.map((name) => `sum(${name}) AS ${name}`).join(', ');

const D = String(DAY_MS);

/** The part of a time that began at `since` and goes on, in milliseconds of day `d.day`. */
const ongoing = (since: string): string =>
  `greatest(0, least($4::bigint, (d.day + 1) * ${D}) - greatest(${since}, d.day * ${D}))`;

/** The same as far as it is in the period `p`. */
const ongoingIn = (since: string): string =>
  `greatest(0, least($4::bigint, (d.day + 1) * ${D}, p.until) - greatest(${since}, d.day * ${D}, p.since))::numeric`;

const ONGOING_METERED = `(
  SELECT coalesce(sum(
    ${ongoingIn('a.counted_ms')} * a.disk_gb * p.disk
    + CASE WHEN a.running_ms IS NULL THEN 0 ELSE
        ${ongoingIn('a.running_ms')} * (a.vcpu_micros * p.vcpu + a.mem_mb * p.mem) END
  ), 0)
  FROM periods p WHERE p.since < (d.day + 1) * ${D} AND p.until > d.day * ${D}
)`;

/**
 * One statement for rows and totals, so that both are of one moment. Days are counted from 1970-01-01, money in millionths
 * of a cent. `$1` to `$7` are `PARAMETERS`; those after them are added by `bind`.
 */
export const usageSql = (shape: UsageShape, bind: Binder): string => {
  const chosen = chosenAgents(shape, bind);
  const early = shape.hasSeatDays ? '' : chosen;
  const late = shape.hasSeatDays ? chosen.replaceAll('a.agent_id', 'agent_id') : '';
  return `
    WITH prices AS MATERIALIZED (SELECT * FROM unnest($5::bigint[], $6::numeric[]) AS p (day, share)),
    ${shape.hasRates ? `periods AS MATERIALIZED (SELECT * FROM ${bind.periods()}),` : ''}
    used AS (
      SELECT a.agent_id, a.day, ${SUMS.map((name) => `a.${name}`).join(', ')}, a.metered
      FROM usage_days a WHERE a.account_id = $1 AND a.day >= $2::bigint AND a.day < $3::bigint ${early}
      UNION ALL
      SELECT agent_id, day, active_ms, active_ms::numeric * vcpu_micros, active_ms::numeric * mem_mb,
        disk_ms::numeric * disk_gb, 0, 0, 0, 0, 0, 0, 0, metered
      FROM (
        SELECT a.agent_id, d.day, a.vcpu_micros, a.mem_mb, a.disk_gb, ${ongoing('a.counted_ms')} AS disk_ms,
          CASE WHEN a.running_ms IS NULL THEN 0 ELSE ${ongoing('a.running_ms')} END AS active_ms,
          ${shape.hasRates ? ONGOING_METERED : '0'} AS metered
        FROM usage_agents a CROSS JOIN LATERAL generate_series(
          greatest($2::bigint, least(a.counted_ms, coalesce(a.running_ms, a.counted_ms)) / ${D}),
          least($3::bigint - 1, $4::bigint / ${D})
        ) AS d (day)
        WHERE a.account_id = $1 AND a.deleted_ms IS NULL ${early}
      ) AS ongoing
    ),
    daily AS (
      SELECT agent_id, day, ${summed([...SUMS, 'metered'])} FROM used GROUP BY agent_id, day
    ),
    priced AS MATERIALIZED (${shape.hasSeatDays ? allocated(late) : metered()}),
    ${
      shape.daily
        ? ''
        : `by_agent AS (SELECT agent_id, max(day * 2 + seat) % 2 AS seat, max(day) AS day,
      ${summed([...SUMS, 'hosting'])} FROM priced GROUP BY agent_id),`
    }
    page AS (
      SELECT row.*, a.name, a.external_id, a.external_user_id
      FROM (SELECT * FROM ${shape.daily ? 'priced' : 'by_agent'} ${afterCursor(shape, bind)}
        ORDER BY ${shape.daily ? 'day, agent_id' : 'agent_id'} LIMIT $7::bigint) AS row
      JOIN usage_agents a USING (agent_id)
    ),
    totals AS (SELECT ${SUMS.map((name) => `coalesce(sum(${name}), 0) AS all_${name}`).join(', ')},
      coalesce(sum(hosting), 0) AS all_hosting, coalesce(sum(hosting) FILTER (WHERE seat = 1), 0) AS all_shared
      FROM priced)
    SELECT page.*, totals.* FROM totals LEFT JOIN page ON true
    ORDER BY ${shape.daily ? 'page.day, page.agent_id' : 'page.agent_id'}`;
};

/** Adds parameters to a statement. */
export interface Binder {
  /** Returns the placeholders of the filter and cursor values, cast. */
  agentId(): string;
  externalUserId(): string;
  cursorDay(): string;
  cursorAgent(): string;
  /** A FROM item with the columns `since`, `until`, `vcpu`, `mem`, `disk`. */
  periods(): string;
}

const chosenAgents = ({ byAgent, byEndUser }: UsageShape, bind: Binder): string =>
  [
    byAgent ? `AND a.agent_id = ${bind.agentId()}` : '',
    byEndUser
      ? `AND a.agent_id IN (SELECT agent_id FROM usage_agents
          WHERE account_id = $1 AND external_user_id = ${bind.externalUserId()})`
      : '',
  ].join(' ');

const afterCursor = ({ daily, hasCursor }: UsageShape, bind: Binder): string => {
  if (!hasCursor) return '';
  return daily
    ? `WHERE (day, agent_id) > (${bind.cursorDay()}, ${bind.cursorAgent()})`
    : `WHERE agent_id > ${bind.cursorAgent()}`;
};

const columns = `agent_id, day, ${SUMS.join(', ')}`;

/** Rounded once for each agent and day, half up. */
const METERED = `div(2 * metered + ${METERED_PARTS}, 2 * ${METERED_PARTS})`;

const metered = (): string => `SELECT ${columns}, 0 AS seat, ${METERED} AS hosting FROM daily`;

/**
 * A day's share is divided by active time, rounded down; millionths that are left over go to the most active agents, of
 * equally active ones to the first by id.
 */
const allocated = (chosen: string): string => `
  SELECT ${columns}, seat,
    CASE WHEN share IS NULL THEN ${METERED}
      WHEN active_ms = 0 THEN 0
      ELSE floored + CASE WHEN rank <= share - day_floored THEN 1 ELSE 0 END
    END AS hosting
  FROM (
    SELECT *, sum(floored) OVER (PARTITION BY day) AS day_floored FROM (
      SELECT daily.*, share, (share IS NOT NULL)::int AS seat,
        CASE WHEN active_ms = 0 THEN 0
          ELSE div(share * active_ms, sum(active_ms) OVER (PARTITION BY day)) END AS floored,
        row_number() OVER (PARTITION BY day ORDER BY active_ms DESC, agent_id) AS rank
      FROM daily LEFT JOIN prices USING (day)
    ) AS ranked
  ) AS shared
  WHERE true ${chosen}`;
