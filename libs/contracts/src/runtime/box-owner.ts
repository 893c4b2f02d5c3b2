import { DomainError, isId } from '@berth/kernel';

/** The services whose agents and computers hosts run in boxes. */
export const BOX_OWNERS = ['agents', 'computers'] as const;

export type BoxOwner = (typeof BOX_OWNERS)[number];

const PREFIXES = { agents: 'agt', computers: 'cmp' } as const satisfies Record<BoxOwner, string>;

/** The service that a box belongs to, by its id; undefined for what is no id of a box. */
export const boxOwner = (boxId: string): BoxOwner | undefined =>
  BOX_OWNERS.find((owner) => isId(PREFIXES[owner], boxId));

/**
 * Unavailable `agent_unavailable` or `computer_unavailable`. `what` happened to it, for its owner, is the rest of a sentence
 * about it.
 */
export const boxUnavailable = (
  boxId: string,
  what: string,
  options?: ConstructorParameters<typeof DomainError>[4],
): DomainError =>
  boxOwner(boxId) === 'computers'
    ? new DomainError('unavailable', 'computer_unavailable', `The computer ${what}`, {}, options)
    : new DomainError('unavailable', 'agent_unavailable', `The agent ${what}`, {}, options);
