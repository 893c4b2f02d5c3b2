import type { HostFigures } from '../hosting/index.js';

/** `lost`: not seen for 30 s. `draining`: gets no new agents. */
export const HOST_STATES = ['ready', 'draining', 'lost'] as const;

export type HostState = (typeof HOST_STATES)[number];

/** A host that runs agents, as operators see it. */
export interface HostView extends Omit<HostFigures, 'limitsDisk' | 'grantableDiskGb' | 'desktops'> {
  /** `hst_…` */
  readonly id: string;
  readonly state: HostState;
  /** Agents whose volume the host has: awake, frozen, and all others. */
  readonly agents: { readonly awake: number; readonly warm: number; readonly cold: number };
  /** ISO 8601. */
  readonly lastSeenAt: string;
}
