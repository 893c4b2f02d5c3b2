import type { RecordedEvent } from '@berth/event-store';
import { EndUserKeys, fromPersonal } from '@berth/personal-data';
import type { MeteredKind } from './metered-kind.js';
import type { BoxFact, Identity, UsageFact } from './usage-fact.js';
import type { Identities } from './usage-rows.js';

const REQUESTS_AT_ONCE = 50;

type Creation = Extract<BoxFact, { kind: 'created' }>;

/**
 * The names of the boxes that the events create; none for those whose end user is deleted. Errors: unavailable
 * `service_unavailable` if `end-users` does not respond, which has the keys.
 */
export const identitiesIn = async (
  { factOf, about }: MeteredKind,
  events: readonly RecordedEvent[],
  keys: Pick<EndUserKeys, 'find'>,
): Promise<Identities> => {
  const creations = events.flatMap((event) => creationIn(factOf(event)));
  const found = new Map<string, Identity>();
  for (let from = 0; from < creations.length; from += REQUESTS_AT_ONCE)
    await Promise.all(
      creations.slice(from, from + REQUESTS_AT_ONCE).map(async ({ boxId, personal }) => {
        const key = personal.endUserId === null ? null : await keys.find(personal.endUserId);
        const identity = fromPersonal(key, about(boxId), personal);
        if (identity !== null) found.set(boxId, identity);
      }),
    );
  return found;
};

const creationIn = (fact: UsageFact | null): readonly Creation[] =>
  fact?.about === 'box' && fact.fact.kind === 'created' ? [fact.fact] : [];
