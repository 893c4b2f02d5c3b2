import type { Projection, RecordedEvent } from '@berth/event-store';
import type { EndUserKeys } from '@berth/personal-data';
import { publishUsage } from '../analytics/publish-usage.js';
import { AGENTS } from './agents.kind.js';
import { COMPUTERS } from './computers.kind.js';
import { identitiesIn } from './identities.js';
import type { MeteredKind } from './metered-kind.js';
import { UsageLedger } from './usage-ledger.js';
import { loadState, saveLedger, type EventIds } from './usage-rows.js';
import { createUsageTables, dropUsageTables, publishUsageTables } from './usage-tables.js';

/** Names the projection of agents, for waiting on it. */
export const USAGE = { name: 'usage' } as const;

/** Names the projection of computers, for waiting on it. */
export const COMPUTER_USAGE = { name: 'computer-usage' } as const;

type Keys = Pick<EndUserKeys, 'find'>;

/**
 * What every agent used on every day, and the prices of every account. For usage in progress, such as a running agent,
 * `usage_agents` has the moment from which it is not counted yet; the query adds it.
 */
export const usageProjection = (keys: Keys): Projection => ({
  ...projectionOf(AGENTS, keys),
  ...USAGE,
  version: 4,
  publish: publishUsage,
});

/** The same for computers. A projection of its own, so that it is built without building that of agents again. */
export const computerUsageProjection = (keys: Keys): Projection => ({
  ...projectionOf(COMPUTERS, keys),
  ...COMPUTER_USAGE,
  version: 1,
});

const projectionOf = (kind: MeteredKind, keys: Keys): Omit<Projection, 'name' | 'version'> => ({
  categories: kind.categories,
  createTables: (tx, suffix) => createUsageTables(kind, tx, suffix),
  dropTables: (tx, suffix) => dropUsageTables(kind, tx, suffix),
  publish: (tx, suffix) => publishUsageTables(kind, tx, suffix),

  async apply(tx, suffix, events) {
    const identities = await identitiesIn(kind, events, keys);
    const ledger = new UsageLedger(kind, await loadState(kind, tx, suffix, idsIn(kind, events)));
    for (const event of events) ledger.apply(event);
    await saveLedger(kind, tx, suffix, ledger, identities);
  },
});

const idsIn = ({ idMember }: MeteredKind, events: readonly RecordedEvent[]): EventIds => ({
  boxIds: distinct(events.map(({ data }) => data[idMember])),
  deliveryIds: distinct(events.map(({ data: { deliveryId } }) => deliveryId)),
});

const distinct = (values: readonly unknown[]): readonly string[] => [
  ...new Set(values.filter((value) => typeof value === 'string')),
];
