import type { EventCodec } from '@berth/event-store';
import type { Decider } from '@berth/kernel';

/** The last event of the stream of an end user shows which computer is its one. */
export interface ComputerOfEndUserClaimed {
  readonly type: 'ComputerOfEndUserClaimed';
  readonly data: { readonly endUserId: string; readonly computerId: string; readonly at: string };
}

/** The computer that is the end user's one; null before the first. It may not exist yet, or no longer. */
export interface ClaimOfEndUser {
  readonly computerId: string | null;
}

export interface ClaimComputer {
  readonly endUserId: string;
  readonly computerId: string;
  /** A deleted computer, whose place it takes. */
  readonly instead: string | null;
  readonly at: string;
}

/** An end user has one computer: the first claim holds until its computer is deleted. */
export const claimDecider: Decider<ClaimOfEndUser, ClaimComputer, ComputerOfEndUserClaimed> = {
  initial: { computerId: null },
  decide: ({ endUserId, computerId, instead, at }, claim) =>
    claim.computerId === instead
      ? [{ type: 'ComputerOfEndUserClaimed', data: { endUserId, computerId, at } }]
      : [],
  evolve: (_, { data }) => ({ computerId: data.computerId }),
};

/** Codec of the streams `computerOfEndUser-eus_…`. */
export const claimCodec: EventCodec<ComputerOfEndUserClaimed> = {
  category: 'computerOfEndUser',
  toStored: ({ type, data }) => ({ type, data: { ...data } }),
  fromStored: (stored) => {
    if (isClaim(stored)) return stored;
    throw new Error(`The stream of a claim holds an event of unknown type ${stored.type}.`);
  },
};

const isClaim = (stored: { readonly type: string }): stored is ComputerOfEndUserClaimed =>
  stored.type === 'ComputerOfEndUserClaimed';
