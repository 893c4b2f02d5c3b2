import { middleRound, ratioOf, type Measure, type Ratio, type Summary } from './statistics.js';

/** One side of a comparison: `round` measures one round, `warmUp` runs before anything counts. */
export interface Side {
  readonly name: string;
  readonly warmUp: () => Promise<unknown>;
  readonly round: () => Promise<Summary>;
}

export interface ComparisonPlan {
  readonly title: string;
  readonly measure: Measure;
  /** The unit of a rate, if it differs from the operation itself. */
  readonly unit?: string;
  /** The target of the ratio to the first limit: a minimum for a rate, a maximum for a time. */
  readonly aim?: number;
  readonly ours: Side;
  /** The limits: the machine, the library or the protocol without Berth. */
  readonly limits: readonly Side[];
}

export interface Row {
  readonly name: string;
  readonly middle: Summary;
  /** Ratio of Berth to this side; null for Berth itself. */
  readonly ratio: Ratio | null;
}

/** A measured comparison: the limits first, Berth last. */
export interface Comparison {
  readonly kind: 'comparison';
  readonly title: string;
  readonly measure: Measure;
  readonly unit: string | null;
  readonly aim: number | null;
  readonly limits: readonly Row[];
  readonly ours: Row;
}

/**
 * Warms every side up, then measures them in turn, round by round, in alternating order: other load on the machine then
 * affects all sides alike.
 */
export const compare = async (plan: ComparisonPlan, rounds: number): Promise<Comparison> => {
  const sides = [...plan.limits, plan.ours];
  const measured = new Map<Side, Summary[]>(sides.map((side) => [side, []]));
  for (const side of sides) await side.warmUp();
  for (let round = 0; round < rounds; round++) {
    for (const side of round % 2 === 0 ? sides : sides.toReversed())
      measured.get(side)?.push(await side.round());
  }
  const of = (side: Side): readonly Summary[] => measured.get(side) ?? [];
  const row = (side: Side, ratio: Ratio | null): Row => ({
    name: side.name,
    middle: middleRound(plan.measure, of(side)),
    ratio,
  });
  return {
    kind: 'comparison',
    title: plan.title,
    measure: plan.measure,
    unit: plan.unit ?? null,
    aim: plan.aim ?? null,
    limits: plan.limits.map((limit) => row(limit, ratioOf(plan.measure, of(plan.ours), of(limit)))),
    ours: row(plan.ours, null),
  };
};
