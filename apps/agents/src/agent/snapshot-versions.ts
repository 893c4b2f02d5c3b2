/**
 * Versions of the states that snapshots hold. Increase a version whenever the events of its category fold to a different
 * state; `snapshot-versions.spec.ts` fails otherwise.
 */
export const SNAPSHOT_VERSIONS = { agent: 3, agentEnv: 1, reservation: 1 } as const;
