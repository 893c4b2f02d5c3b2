import type { AuditView, ListAudit } from '@berth/contracts/audit';
import { endUsersRequests } from '@berth/contracts/end-users';
import { isExternalUserId } from '@berth/contracts/schema';
import { Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';

type Ids = Pick<ListAudit, 'actor' | 'resource'>;

/** Every id of ours; callers mean it literally. */
const OUR_ID = /^[a-z]{3}_[0-9a-z]{26}$/;

/** Puts external ids in the place of the opaque ones, under which the audit knows end users. */
@Injectable()
export class EndUsersOfAudit {
  constructor(private readonly requester: Requester) {}

  /** The filters as the audit understands them: callers name end users by their external ids. */
  async idsOf(accountId: string, { actor, resource }: Ids): Promise<Ids> {
    const named = [actor, resource].filter((id) => id !== null && isExternalUserId(id) && !OUR_ID.test(id));
    if (named.length === 0) return { actor, resource };
    const { items } = await this.requester.request(endUsersRequests.findIds, {
      accountId,
      endUserIds: [],
      externalIds: named.filter((id) => id !== null),
    });
    const ids = new Map(items.map(({ externalId, endUserId }) => [externalId, endUserId]));
    const idOf = (name: string | null): string | null => (name === null ? null : (ids.get(name) ?? name));
    return { actor: idOf(actor), resource: idOf(resource) };
  }

  /** The acts as callers see them. The external id of a deleted end user is unknown. */
  async shown(accountId: string, acts: readonly AuditView[]): Promise<readonly AuditView[]> {
    const endUserIds = [...new Set(acts.flatMap(endUsersIn))];
    if (endUserIds.length === 0) return acts;
    const request = { accountId, endUserIds, externalIds: [] };
    const { items } = await this.requester.request(endUsersRequests.findIds, request);
    const names = new Map(items.map(({ externalId, endUserId }) => [endUserId, externalId]));
    const nameOf = (id: string | null): string | null => (id === null ? null : (names.get(id) ?? null));
    return acts.map((act) => ({
      ...act,
      actor: isByEndUser(act) ? { ...act.actor, id: nameOf(act.actor.id) } : act.actor,
      resource: isOnEndUser(act) ? { ...act.resource, id: nameOf(act.resource.id) } : act.resource,
    }));
  }
}

const isByEndUser = ({ actor }: AuditView): boolean => actor.kind === 'end_user';
const isOnEndUser = ({ resource }: AuditView): boolean => resource.type === 'end_user';

const endUsersIn = (act: AuditView): readonly string[] =>
  [isByEndUser(act) ? act.actor.id : null, isOnEndUser(act) ? act.resource.id : null].filter(
    (id) => id !== null,
  );
