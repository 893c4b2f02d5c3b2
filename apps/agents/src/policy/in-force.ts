import type { Policy } from '@berth/contracts/schema';
import type { LiveAgent, Resources } from '../agent/agent.js';

/** An agent's own settings, which a policy may replace. */
export interface OwnValues {
  readonly resources: Resources;
  /** 0: always on. */
  readonly idleTtlSeconds: number;
  /** Size of its volume, which never shrinks; null before its first start. */
  readonly volumeGb: number | null;
}

export const ownValuesOf = ({ profile, volumeGb }: Pick<LiveAgent, 'profile' | 'volumeGb'>): OwnValues => ({
  resources: profile.resources,
  idleTtlSeconds: profile.idleTtlSeconds,
  volumeGb,
});

/** The sizes and the idle time that hold for an agent: those of the policy, and for the rest its own. */
export const valuesInForce = (
  { resources, idleTtlSeconds, volumeGb }: OwnValues,
  policy: Policy | null,
): Omit<OwnValues, 'volumeGb'> => ({
  resources: {
    memMb: policy?.mem_mb ?? resources.memMb,
    vcpus: policy?.vcpus ?? resources.vcpus,
    diskGb: Math.max(policy?.disk_gb ?? resources.diskGb, volumeGb ?? 0),
  },
  idleTtlSeconds: policy?.idle_sleep_seconds ?? idleTtlSeconds,
});
