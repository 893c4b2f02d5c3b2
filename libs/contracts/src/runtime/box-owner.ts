import { isId } from '@berth/kernel';

/** The services whose agents and computers hosts run in boxes. */
export const BOX_OWNERS = ['agents', 'computers'] as const;

export type BoxOwner = (typeof BOX_OWNERS)[number];

const PREFIXES = { agents: 'agt', computers: 'cmp' } as const satisfies Record<BoxOwner, string>;

/** The service that a box belongs to, by its id; undefined for what is no id of a box. */
export const boxOwner = (boxId: string): BoxOwner | undefined =>
  BOX_OWNERS.find((owner) => isId(PREFIXES[owner], boxId));
