import type { Policy } from '@berth/contracts/schema';
import type { SealedFields } from '../personal-data/personal-data.js';

/** Times are ISO 8601. Personal fields are sealed under the key of the end user. */
export interface EndUserCreated extends SealedFields {
  readonly type: 'EndUserCreated';
  readonly endUserId: string;
  readonly accountId: string;
  readonly createdAt: string;
}

/** Holds the fields that changed. */
export interface EndUserUpdated extends Partial<Omit<SealedFields, 'externalId'>> {
  readonly type: 'EndUserUpdated';
  readonly endUserId: string;
  readonly accountId: string;
  readonly updatedAt: string;
}

interface About<Type extends string> {
  readonly type: Type;
  readonly endUserId: string;
  readonly accountId: string;
  readonly at: string;
}

export type EndUserSuspended = About<'EndUserSuspended'>;
export type EndUserResumed = About<'EndUserResumed'>;
/** Replaces the whole policy. */
export interface EndUserPolicySet extends About<'EndUserPolicySet'> {
  readonly policy: Policy;
}
export type EndUserPolicyRemoved = About<'EndUserPolicyRemoved'>;
/** From here on the end user does not exist; what it leaves is removed afterwards. */
export type EndUserDeleted = About<'EndUserDeleted'>;
/** Its agents are gone, its external id is free and its key is destroyed. */
export type EndUserErased = About<'EndUserErased'>;

export type EndUserEvent =
  | EndUserCreated
  | EndUserUpdated
  | EndUserSuspended
  | EndUserResumed
  | EndUserPolicySet
  | EndUserPolicyRemoved
  | EndUserDeleted
  | EndUserErased;

export interface LiveEndUser {
  readonly kind: 'live';
  readonly endUserId: string;
  readonly accountId: string;
  readonly sealed: SealedFields;
  readonly suspendedAt: string | null;
  readonly policy: Policy | null;
  readonly createdAt: string;
  readonly updatedAt: string;
}

/** Keeps the sealed external id until everything that is found by it is gone. */
export interface DeletedEndUser {
  readonly kind: 'deleted';
  readonly endUserId: string;
  readonly accountId: string;
  readonly sealed: SealedFields;
  readonly erased: boolean;
}

export type EndUser = { readonly kind: 'unknown' } | LiveEndUser | DeletedEndUser;

export const evolveEndUser = (state: EndUser, event: EndUserEvent): EndUser => {
  if (event.type === 'EndUserCreated') {
    const { endUserId, accountId, createdAt, externalId, displayName, metadata, tags } = event;
    const sealed = { externalId, displayName, metadata, tags };
    const fresh = { suspendedAt: null, policy: null, createdAt, updatedAt: createdAt };
    return { kind: 'live', endUserId, accountId, sealed, ...fresh };
  }
  if (state.kind === 'unknown') return state;
  return state.kind === 'deleted' ? { ...state, erased: true } : evolveLive(state, event);
};

const evolveLive = (state: LiveEndUser, event: Exclude<EndUserEvent, EndUserCreated>): EndUser => {
  switch (event.type) {
    case 'EndUserUpdated':
      return { ...state, sealed: withUpdate(state.sealed, event), updatedAt: event.updatedAt };
    case 'EndUserSuspended':
      return { ...state, suspendedAt: event.at, updatedAt: event.at };
    case 'EndUserResumed':
      return { ...state, suspendedAt: null, updatedAt: event.at };
    case 'EndUserPolicySet':
      return { ...state, policy: event.policy, updatedAt: event.at };
    case 'EndUserPolicyRemoved':
      return { ...state, policy: null, updatedAt: event.at };
    case 'EndUserDeleted':
    case 'EndUserErased': {
      const { endUserId, accountId, sealed } = state;
      return { kind: 'deleted', endUserId, accountId, sealed, erased: event.type === 'EndUserErased' };
    }
  }
};

const withUpdate = (sealed: SealedFields, { displayName, metadata, tags }: EndUserUpdated): SealedFields => ({
  externalId: sealed.externalId,
  displayName: displayName === undefined ? sealed.displayName : displayName,
  metadata: metadata === undefined ? sealed.metadata : metadata,
  tags: tags === undefined ? sealed.tags : tags,
});
