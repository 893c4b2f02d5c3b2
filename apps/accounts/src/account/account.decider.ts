import { isoTime, type Decider } from '@berth/kernel';
import { evolveAccount, type AccountEvent, type AccountState } from './account.js';

export interface OpenAccount {
  readonly accountId: string;
  readonly plan: string;
  /** Milliseconds since the Unix epoch. */
  readonly now: number;
}

export const accountDecider: Decider<AccountState, OpenAccount, AccountEvent> = {
  initial: { kind: 'unknown' },
  decide: (command, state) =>
    state.kind === 'open'
      ? []
      : [
          {
            type: 'AccountOpened',
            accountId: command.accountId,
            plan: command.plan,
            openedAt: isoTime(command.now),
          },
        ],
  evolve: evolveAccount,
};
