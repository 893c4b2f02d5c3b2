/**
 * Versions of the states that snapshots hold. Increase a version whenever the events of its category fold to a different
 * state; `snapshot-versions.spec.ts` fails otherwise.
 */
export const SNAPSHOT_VERSIONS = { computer: 1, computerUse: 1 } as const;
