/**
 * Versions of the states that snapshots hold. Increase a version with every change of what the events of that category
 * fold to; `snapshot-versions.spec.ts` fails otherwise.
 */
export const SNAPSHOT_VERSIONS = { agent: 1, agentEnv: 1, reservation: 1 } as const;
