import type { Policy } from '@berth/contracts/schema';
import { isoTime, type Decider } from '@berth/kernel';

/** Times are ISO 8601. */
export interface EndUserDefaultsSet {
  readonly type: 'EndUserDefaultsSet';
  readonly accountId: string;
  readonly policy: Policy;
  readonly at: string;
}

export interface EndUserDefaultsRemoved {
  readonly type: 'EndUserDefaultsRemoved';
  readonly accountId: string;
  readonly at: string;
}

export type DefaultsEvent = EndUserDefaultsSet | EndUserDefaultsRemoved;

/** The policy of every end user of an account who has none of its own. */
export interface Defaults {
  readonly policy: Policy | null;
}

/** `now` is in milliseconds since the Unix epoch. */
export type DefaultsCommand =
  | { readonly type: 'Set'; readonly accountId: string; readonly policy: Policy; readonly now: number }
  | { readonly type: 'Remove'; readonly accountId: string; readonly now: number };

export const defaultsDecider: Decider<Defaults, DefaultsCommand, DefaultsEvent> = {
  initial: { policy: null },
  decide: (command, { policy }) => {
    const about = { accountId: command.accountId, at: isoTime(command.now) };
    if (command.type === 'Set') return [{ type: 'EndUserDefaultsSet', ...about, policy: command.policy }];
    return policy === null ? [] : [{ type: 'EndUserDefaultsRemoved', ...about }];
  },
  evolve: (_, event) => ({ policy: event.type === 'EndUserDefaultsSet' ? event.policy : null }),
};
