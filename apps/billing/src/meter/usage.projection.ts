import type { Projection, RecordedEvent } from '@berth/event-store';
import type { EndUserKeys } from '@berth/personal-data';
import { publishUsage } from '../analytics/publish-usage.js';
import { identitiesIn } from './identities.js';
import { METERED_CATEGORIES } from './usage-fact.js';
import { UsageLedger } from './usage-ledger.js';
import { loadState, saveLedger, type EventIds } from './usage-rows.js';
import { createUsageTables, dropUsageTables } from './usage-tables.js';

/** Names the projection, for waiting on it. */
export const USAGE = { name: 'usage' } as const;

/**
 * What every agent used on every day, and the prices of every account. For usage in progress, such as a running agent,
 * `usage_agents` has the moment from which it is not counted yet; the query adds it.
 */
export const usageProjection = (keys: Pick<EndUserKeys, 'find'>): Projection => ({
  name: USAGE.name,
  version: 4,
  categories: METERED_CATEGORIES,
  createTables: createUsageTables,
  dropTables: dropUsageTables,
  publish: publishUsage,

  async apply(tx, suffix, events) {
    const identities = await identitiesIn(events, keys);
    const ledger = new UsageLedger(await loadState(tx, suffix, idsIn(events)));
    for (const event of events) ledger.apply(event);
    await saveLedger(tx, suffix, ledger, identities);
  },
});

const idsIn = (events: readonly RecordedEvent[]): EventIds => ({
  agentIds: distinct(events.map(({ data: { agentId } }) => agentId)),
  deliveryIds: distinct(events.map(({ data: { deliveryId } }) => deliveryId)),
});

const distinct = (values: readonly unknown[]): readonly string[] => [
  ...new Set(values.filter((value) => typeof value === 'string')),
];
