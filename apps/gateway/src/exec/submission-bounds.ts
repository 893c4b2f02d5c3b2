/** Time for everything except the command, such as a wake. */
export const OVERHEAD_MS = 90_000;
export const DEFAULT_ATTACHED_SECONDS = 60;
/** Escapes may make the JSON of a command six times as long as the command, which has its own limit. */
export const BODY_LIMIT_BYTES = 8 * 1024 * 1024;
