import type { Policy } from '@berth/contracts/schema';
import { DomainError, isoTime, type Decider } from '@berth/kernel';
import type { SealedFields } from '../personal-data/personal-data.js';
import { evolveEndUser, type EndUser, type EndUserEvent, type LiveEndUser } from './end-user.js';

interface Command<Type extends string> {
  readonly type: Type;
  readonly endUserId: string;
  readonly accountId: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** Creates the end user, or changes the given fields. */
export interface Put extends Command<'Put'> {
  readonly externalId: string;
  readonly given: Partial<Omit<SealedFields, 'externalId'>>;
}

type ChangePolicy = (Command<'SetPolicy'> & { readonly policy: Policy }) | Command<'RemovePolicy'>;

export type EndUserCommandToDecide =
  | Put
  /** Creates the end user unless it exists. */
  | (Command<'Ensure'> & { readonly externalId: string })
  | Command<'Suspend'>
  | Command<'Resume'>
  | ChangePolicy
  | Command<'Delete'>
  | Command<'RecordErasure'>;

export const endUserDecider: Decider<EndUser, EndUserCommandToDecide, EndUserEvent> = {
  initial: { kind: 'unknown' },
  decide: (command, state) => {
    switch (command.type) {
      case 'Put':
        return put(command, state);
      case 'Ensure':
        return state.kind === 'live' ? [] : put({ ...command, type: 'Put', given: {} }, state);
      case 'Suspend':
      case 'Resume':
        return changeStanding(command, requireLive(state));
      case 'SetPolicy':
      case 'RemovePolicy':
        return changePolicy(command, requireLive(state));
      case 'Delete':
        if (state.kind === 'unknown') throw endUserNotFound();
        return state.kind === 'deleted' ? [] : [about('EndUserDeleted', command)];
      case 'RecordErasure':
        return state.kind === 'deleted' && !state.erased ? [about('EndUserErased', command)] : [];
    }
  },
  evolve: evolveEndUser,
};

const put = (
  { endUserId, accountId, externalId, given, now }: Put,
  state: EndUser,
): readonly EndUserEvent[] => {
  if (state.kind === 'deleted') throw endUserNotFound();
  const at = isoTime(now);
  if (state.kind === 'live')
    return [{ type: 'EndUserUpdated', endUserId, accountId, ...given, updatedAt: at }];
  const { displayName = null, metadata = null, tags = null } = given;
  return [
    { type: 'EndUserCreated', endUserId, accountId, externalId, displayName, metadata, tags, createdAt: at },
  ];
};

const changeStanding = (
  command: Command<'Suspend'> | Command<'Resume'>,
  { suspendedAt }: LiveEndUser,
): readonly EndUserEvent[] => {
  if (command.type === 'Suspend') return suspendedAt === null ? [about('EndUserSuspended', command)] : [];
  return suspendedAt === null ? [] : [about('EndUserResumed', command)];
};

const changePolicy = (command: ChangePolicy, { policy }: LiveEndUser): readonly EndUserEvent[] => {
  if (command.type === 'SetPolicy')
    return [{ ...about('EndUserPolicySet', command), policy: command.policy }];
  return policy === null ? [] : [about('EndUserPolicyRemoved', command)];
};

const about = <const Type extends string>(
  type: Type,
  { endUserId, accountId, now }: Command<string>,
): { type: Type; endUserId: string; accountId: string; at: string } => ({
  type,
  endUserId,
  accountId,
  at: isoTime(now),
});

export const requireLive = (state: EndUser): LiveEndUser => {
  if (state.kind !== 'live') throw endUserNotFound();
  return state;
};

export const endUserNotFound = (): DomainError =>
  new DomainError('not_found', 'end_user_not_found', 'There is no such end user.');
