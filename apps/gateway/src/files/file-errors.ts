import type { ErrorCode } from '../errors/error-codes.js';

/** Error codes that file routes have besides those of every route. */
const FILE_ERRORS: readonly ErrorCode[] = [
  'invalid_path',
  'path_outside_volume',
  'agent_not_found',
  'agent_deploying',
  'agent_stopped',
  'agent_failed',
  'agent_unavailable',
];

/** The codes of a route that reads, and `own`. */
export const readErrors = (own: readonly ErrorCode[]): readonly ErrorCode[] => [
  ...FILE_ERRORS,
  'not_readable',
  'too_many_transfers',
  ...own,
];

/** The codes of a route that changes something, and `own`. */
export const changeErrors = (own: readonly ErrorCode[]): readonly ErrorCode[] => [
  ...FILE_ERRORS,
  'not_permitted',
  ...own,
];
