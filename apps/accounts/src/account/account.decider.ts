import { DomainError, isoTime, type Decider } from '@berth/kernel';
import { evolveAccount, type AccountEvent, type AccountState, type OpenAccountState } from './account.js';

export interface OpenAccount {
  readonly type: 'Open';
  readonly accountId: string;
  readonly name: string;
  readonly plan: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

/** null leaves a member unchanged. */
export interface UpdateAccount {
  readonly type: 'Update';
  readonly name: string | null;
  readonly plan: string | null;
  readonly suspended: boolean | null;
  /** Whether this is the installation's first account, whose keys operate the installation. */
  readonly isFirst: boolean;
  readonly now: number;
}

export type AccountCommand = OpenAccount | UpdateAccount;

export const accountDecider: Decider<AccountState, AccountCommand, AccountEvent> = {
  initial: { kind: 'unknown' },
  decide: (command, state) => {
    if (command.type === 'Open') return open(command, state);
    if (state.kind === 'unknown') throw accountNotFound();
    return [...rename(command, state), ...suspendOrResume(command, state)];
  },
  evolve: evolveAccount,
};

export const accountNotFound = (): DomainError =>
  new DomainError('not_found', 'account_not_found', 'No such account.');

const open = (command: OpenAccount, state: AccountState): readonly AccountEvent[] => {
  if (state.kind === 'open') return [];
  const { accountId, name, plan, now } = command;
  return [{ type: 'AccountOpened.v2', accountId, name, plan, openedAt: isoTime(now) }];
};

const rename = (command: UpdateAccount, state: OpenAccountState): readonly AccountEvent[] => {
  const { name, plan } = { name: command.name ?? state.name, plan: command.plan ?? state.plan };
  if (name === state.name && plan === state.plan) return [];
  const changedAt = isoTime(command.now);
  return [{ type: 'AccountChanged', accountId: state.accountId, name, plan, changedAt }];
};

const suspendOrResume = (
  { suspended, isFirst, now }: UpdateAccount,
  { accountId, suspendedAt }: OpenAccountState,
): readonly AccountEvent[] => {
  if (suspended === null || suspended === (suspendedAt !== null)) return [];
  if (!suspended) return [{ type: 'AccountResumed', accountId, resumedAt: isoTime(now) }];
  if (isFirst) {
    throw new DomainError(
      'conflict',
      'first_account',
      "The installation's first account cannot be suspended: without its keys, the installation could not be operated.",
    );
  }
  return [{ type: 'AccountSuspended', accountId, suspendedAt: isoTime(now) }];
};
