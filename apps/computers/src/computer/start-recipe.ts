import type { StartAgent, ThawAgent } from '@berth/contracts/runtime';
import type { LiveComputer } from './computer.js';

const LEAST_MS = 1_000;
/** A host answers a longer start when it is asked again. */
const MOST_MS = 60_000;

/** The request that starts a computer on its host. `deadline`: ISO 8601; `now`: Unix milliseconds. */
export const startOf = (
  { computerId, epoch, profile }: LiveComputer,
  deadline: string,
  now: number,
): StartAgent => ({
  agentId: computerId,
  epoch,
  accountId: profile.accountId,
  source: { kind: 'desktop', version: 1 },
  env: {},
  secretKeys: [],
  token: '',
  instructions: null,
  resources: profile.resources,
  desktop: profile.display,
  idleTtlSeconds: profile.idleTtlSeconds,
  deadlineMs: Math.max(LEAST_MS, Math.min(MOST_MS, Date.parse(deadline) - now)),
});

export const thawOf = ({ computerId, epoch, profile }: LiveComputer): ThawAgent => ({
  agentId: computerId,
  epoch,
  idleTtlSeconds: profile.idleTtlSeconds,
});
