import type { ErrorCode } from '../errors/error-codes.js';

/** Error codes that all file routes share, in addition to those that every route has. */
const FILE_ERRORS: readonly ErrorCode[] = [
  'invalid_path',
  'path_outside_volume',
  'agent_not_found',
  'agent_deploying',
  'agent_stopped',
  'compute_cap_reached',
  'wake_limit_reached',
  'agent_failed',
  'agent_unavailable',
];

/** Returns the error codes of a file route that reads: the shared ones and `own`. */
export const readErrors = (own: readonly ErrorCode[]): readonly ErrorCode[] => [
  ...FILE_ERRORS,
  'not_readable',
  'too_many_transfers',
  ...own,
];

/** Returns the error codes of a file route that changes the volume: the shared ones and `own`. */
export const changeErrors = (own: readonly ErrorCode[]): readonly ErrorCode[] => [
  ...FILE_ERRORS,
  'not_permitted',
  ...own,
];
