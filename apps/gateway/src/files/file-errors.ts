/** Error codes that file routes have besides those of every route, by status. */
export const FILE_ERRORS = {
  400: ['invalid_path', 'path_outside_volume'],
  402: ['compute_cap_reached'],
  404: ['agent_not_found'],
  409: ['agent_deploying', 'agent_stopped', 'agent_failed'],
  503: ['agent_unavailable'],
} as const satisfies Readonly<Record<number, readonly string[]>>;

type Errors = Readonly<Record<number, readonly string[]>>;

/** Those and `own`. */
export const fileErrors = (own: Errors = {}): Errors => {
  const all: Record<number, readonly string[]> = { ...FILE_ERRORS };
  for (const [status, codes] of Object.entries(own))
    all[Number(status)] = [...(all[Number(status)] ?? []), ...codes];
  return all;
};
