/** Error codes that file routes have besides those of every route, by status. */
export const FILE_ERRORS = {
  400: ['invalid_path', 'path_outside_volume'],
  404: ['agent_not_found'],
  409: ['agent_deploying', 'agent_stopped', 'agent_failed'],
  503: ['agent_unavailable'],
} as const satisfies Readonly<Record<number, readonly string[]>>;

type Errors = Readonly<Record<number, readonly string[]>>;

const READ_ERRORS = { 403: ['not_readable'], 429: ['too_many_transfers'] } as const;
const CHANGE_ERRORS = { 403: ['not_permitted'] } as const;

/** Those of a route that reads, and `own`. */
export const readErrors = (own: Errors): Errors => merged(FILE_ERRORS, READ_ERRORS, own);

/** Those of a route that changes something, and `own`. */
export const changeErrors = (own: Errors): Errors => merged(FILE_ERRORS, CHANGE_ERRORS, own);

const merged = (...some: readonly Errors[]): Errors => {
  const all: Record<number, readonly string[]> = {};
  for (const [status, codes] of some.flatMap((errors) => Object.entries(errors)))
    all[Number(status)] = [...(all[Number(status)] ?? []), ...codes];
  return all;
};
