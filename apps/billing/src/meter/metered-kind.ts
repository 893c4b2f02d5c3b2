import type { RecordedEvent } from '@berth/event-store';
import type { UsageFact } from './usage-fact.js';

/** The sums of a day that meters count. `metered` is the price of hosting. */
export const METER_SUMS = ['active_ms', 'vcpu', 'mem', 'disk', 'metered', 'wakes'] as const;

/** The tables of a kind without their suffix, which are the names of their views. */
export interface KindTables {
  readonly boxes: string;
  readonly days: string;
  readonly terms: string;
  readonly plans: string;
  readonly forgotten: string;
  /** Messages that failed and are counted; undefined for a kind without messages. */
  readonly failedChats?: string;
  readonly latest: string;
}

/** Agents or computers: boxes whose usage is counted alike, each kind in tables of its own. */
export interface MeteredKind {
  readonly tables: KindTables;
  /** The column of the id of a box, and the member of events with it. */
  readonly id: string;
  readonly idMember: 'agentId' | 'computerId';
  /** The columns of what names a box, which are emptied when its end user is deleted. */
  readonly names: readonly string[];
  /** The sums of a day besides `METER_SUMS`. */
  readonly uses: readonly string[];
  /** Whether the price of a seat plan is shared among the boxes; if not, hosting costs nothing on a seat plan. */
  readonly sharesSeats: boolean;
  /** The categories of the streams that their usage is counted from. */
  readonly categories: readonly string[];
  /** Returns null for an event that changes no usage. */
  readonly factOf: (event: RecordedEvent) => UsageFact | null;
  /** What binds the sealed names of a box to it, see `PersonalKey`. */
  readonly about: (boxId: string) => string;
}

/** All sums of a day. */
export const sumsOf = ({ uses }: Pick<MeteredKind, 'uses'>): readonly string[] => [...METER_SUMS, ...uses];

/** The sums that queries add up; the price of hosting is added up as rounded for each day. */
export const quantitiesOf = (kind: Pick<MeteredKind, 'uses'>): readonly string[] =>
  sumsOf(kind).filter((sum) => sum !== 'metered');
