import { quantitiesOf, type MeteredKind } from '../meter/metered-kind.js';
import { roundedHosting } from '../meter/usage-tables.js';
import { DAY_MS } from '../meter/utc-day.js';

/** The parts in which statements about usage differ. */
export interface UsageShape {
  readonly kind: MeteredKind;
  readonly daily: boolean;
  /** Whether some day of the range has the price of a seat plan; then hosting is not metered on it. */
  readonly hasSeatDays: boolean;
  /** Whether some period of the range has a rate other than 0. */
  readonly hasRates: boolean;
  readonly byBox: boolean;
  readonly byEndUser: boolean;
  readonly hasCursor: boolean;
}

/** The parameters, in this order; those of a part that the shape leaves out are not sent. */
export const PARAMETERS = ['account', 'from', 'to', 'asOf', 'days', 'shares', 'limit'] as const;

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
 * of a cent. `$1` to `$7` are `PARAMETERS`; those after them are added by `bind`. The first row returned has only the
 * totals, those after it only the page.
 *
 * A day of a box is the sum of up to three parts, which are never put together for more rows than a page has: putting
 * them together for all days of all boxes would take most of the time of the statement.
 */
export const usageSql = (shape: UsageShape, bind: Binder): string => {
  const { kind, daily } = shape;
  const sums = quantitiesOf(kind);
  const parts = partsOf(shape, chosenBoxes(shape, bind));
  const names = kind.names.map((name) => `a.${name}`).join(', ');
  return `
    WITH prices AS MATERIALIZED (SELECT * FROM unnest($5::bigint[], $6::numeric[]) AS p (day, share)),
    ${shape.hasRates ? `periods AS MATERIALIZED (SELECT * FROM ${bind.periods()}),` : ''}
    ongoing AS MATERIALIZED (${ongoingDays(shape, parts.early)}),
    ${hasShares(shape) ? `shares AS MATERIALIZED (${seatShares(kind, parts.late)}),` : ''}
    ${(daily ? dailyRows : boxRows)(sums, parts.all, afterCursor(shape, bind))},
    page AS (
      SELECT chosen.*, (prices.share IS NOT NULL)::int AS seat, ${names}
      FROM chosen JOIN ${kind.tables.boxes} a ON a.${kind.id} = box_id LEFT JOIN prices ON prices.day = chosen.day
    ),
    totals AS (SELECT ${sums.map((name) => `coalesce(sum(${name}), 0) AS all_${name}`).join(', ')},
      coalesce(sum(hosting), 0) AS all_hosting,
      ${hasShares(shape) ? '(SELECT coalesce(sum(hosting), 0) FROM shares)' : '0'} AS all_shared
      FROM summed)
    SELECT totals.*, page.* FROM totals FULL JOIN page ON false
    ORDER BY all_hosting NULLS LAST, ${daily ? 'page.day, page.box_id' : 'page.box_id'}`;
};

const hasShares = ({ kind, hasSeatDays }: UsageShape): boolean => hasSeatDays && kind.sharesSeats;

/** Parts of what boxes used on days: of one day there may be one of each. */
interface Parts {
  readonly all: readonly string[];
  /** Conditions for the boxes that the request asks for: in tables, and in the shares of seat plans. */
  readonly early: string;
  readonly late: string;
}

/** The share of a seat plan depends on all boxes, so that only its result is filtered. */
const partsOf = (shape: UsageShape, chosen: (column: string) => string): Parts => {
  const { kind, hasSeatDays, hasRates } = shape;
  const sums = quantitiesOf(kind);
  const none = ['wakes', ...kind.uses].map(() => '0').join(', ');
  const late = hasShares(shape) ? chosen('box_id') : '';
  const isMetered = 'NOT EXISTS (SELECT FROM prices p WHERE p.day = a.day AND p.share IS NOT NULL)';
  const unlessSeat = (price: string): string =>
    hasSeatDays ? `CASE WHEN ${isMetered} THEN ${price} ELSE 0 END` : price;
  return {
    all: [
      `SELECT a.${kind.id} AS box_id, a.day, ${sums.map((name) => `a.${name}`).join(', ')},
        ${unlessSeat('a.hosting')} AS hosting
       FROM ${kind.tables.days} a
       WHERE a.account_id = $1 AND a.day >= $2::bigint AND a.day < $3::bigint ${chosen(`a.${kind.id}`)}`,
      `SELECT a.box_id, a.day, a.active_ms, a.vcpu, a.mem, a.disk, ${none},
        ${hasRates ? unlessSeat(addedPrice(kind)) : '0'} AS hosting
       FROM ongoing a WHERE true ${hasShares(shape) ? chosen('a.box_id') : ''}`,
      ...(hasShares(shape) ? [`SELECT box_id, day, 0, 0, 0, 0, ${none}, hosting FROM shares`] : []),
    ],
    early: hasShares(shape) ? '' : chosen(`a.${kind.id}`),
    late,
  };
};

/** By what the rounded price of a day grows with the part that goes on, so that the day is rounded as a whole. */
const addedPrice = ({ tables, id }: MeteredKind): string => `(
  SELECT ${roundedHosting('(coalesce(sum(k.metered), 0) + a.metered)')} - coalesce(sum(k.hosting), 0)
  FROM ${tables.days} k WHERE k.account_id = $1 AND k.day = a.day AND k.${id} = a.box_id
)`;

/** The usage that is not counted yet. */
const ongoingDays = ({ kind, hasRates }: UsageShape, chosen: string): string => `
  SELECT box_id, day, active_ms, active_ms::numeric * vcpu_micros AS vcpu, active_ms::numeric * mem_mb AS mem,
    disk_ms::numeric * disk_gb AS disk, metered
  FROM (
    SELECT a.${kind.id} AS box_id, d.day, a.vcpu_micros, a.mem_mb, a.disk_gb, ${ongoing('a.counted_ms')} AS disk_ms,
      CASE WHEN a.running_ms IS NULL THEN 0 ELSE ${ongoing('a.running_ms')} END AS active_ms,
      ${hasRates ? ONGOING_METERED : '0'} AS metered
    FROM ${kind.tables.boxes} a CROSS JOIN LATERAL generate_series(
      greatest($2::bigint, least(a.counted_ms, coalesce(a.running_ms, a.counted_ms)) / ${D}),
      least($3::bigint - 1, $4::bigint / ${D})
    ) AS d (day)
    WHERE a.account_id = $1 AND a.deleted_ms IS NULL ${chosen}
  ) AS going_on`;

/** `chosen` has the rows of the page, `summed` rows that add up to the totals. */
const boxRows = (sums: readonly string[], parts: readonly string[], afterCursor: string): string => `
  summed AS MATERIALIZED (
    SELECT box_id, max(day) AS day, ${summed([...sums, 'hosting'])}
    FROM (${parts.join(' UNION ALL ')}) AS used GROUP BY box_id
  ),
  chosen AS (SELECT * FROM summed ${afterCursor} ORDER BY box_id LIMIT $7::bigint)`;

/** The first rows of all parts together are among the first rows of each. */
const dailyRows = (sums: readonly string[], parts: readonly string[], afterCursor: string): string => `
  summed AS NOT MATERIALIZED (${parts.join(' UNION ALL ')}),
  chosen AS (
    SELECT box_id, day, ${summed([...sums, 'hosting'])} FROM (${parts
      .map((part) => `(SELECT * FROM (${part}) AS part ${afterCursor} ORDER BY day, box_id LIMIT $7::bigint)`)
      .join(' UNION ALL ')}) AS used
    GROUP BY day, box_id ORDER BY day, box_id LIMIT $7::bigint
  )`;

/** Adds parameters to a statement. */
export interface Binder {
  /** Returns the placeholders of the filter and cursor values, cast. */
  boxId(): string;
  externalUserId(): string;
  cursorDay(): string;
  cursorBox(): string;
  /** A FROM item with the columns `since`, `until`, `vcpu`, `mem`, `disk`. */
  periods(): string;
}

/** The condition for a column with ids of boxes. */
const chosenBoxes = ({ kind, byBox, byEndUser }: UsageShape, bind: Binder): ((column: string) => string) => {
  const boxId = byBox ? bind.boxId() : null;
  const externalUserId = byEndUser ? bind.externalUserId() : null;
  return (column) =>
    [
      boxId === null ? '' : `AND ${column} = ${boxId}`,
      externalUserId === null
        ? ''
        : `AND ${column} IN (SELECT ${kind.id} FROM ${kind.tables.boxes}
            WHERE account_id = $1 AND external_user_id = ${externalUserId})`,
    ].join(' ');
};

const afterCursor = ({ daily, hasCursor }: UsageShape, bind: Binder): string => {
  if (!hasCursor) return '';
  return daily
    ? `WHERE (day, box_id) > (${bind.cursorDay()}, ${bind.cursorBox()})`
    : `WHERE box_id > ${bind.cursorBox()}`;
};

/**
 * A day's share is divided by active time, rounded down; millionths that are left over go to the most active agents, of
 * equally active ones to the first by id.
 */
const seatShares = ({ tables, id }: MeteredKind, chosen: string): string => `
  SELECT box_id, day, floored + CASE WHEN rank <= share - day_floored THEN 1 ELSE 0 END AS hosting
  FROM (
    SELECT *, sum(floored) OVER (PARTITION BY day) AS day_floored FROM (
      SELECT box_id, day, share,
        div(share * active_ms, sum(active_ms) OVER (PARTITION BY day)) AS floored,
        row_number() OVER (PARTITION BY day ORDER BY active_ms DESC, box_id) AS rank
      FROM (
        SELECT box_id, day, sum(active_ms) AS active_ms FROM (
          SELECT ${id} AS box_id, day, active_ms FROM ${tables.days}
          WHERE account_id = $1 AND day >= $2::bigint AND day < $3::bigint
          UNION ALL SELECT box_id, day, active_ms FROM ongoing
        ) AS used WHERE active_ms > 0 GROUP BY day, box_id
      ) AS active JOIN prices USING (day)
      WHERE share IS NOT NULL
    ) AS ranked
  ) AS shared
  WHERE true ${chosen}`;
