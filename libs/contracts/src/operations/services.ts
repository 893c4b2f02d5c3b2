// Generated from the services' code by `npm run pages`; the checks fail when it is out of date.

/** Every service that `/health` queries. */
export const SERVICES = [
  'accounts',
  'agents',
  'audit',
  'billing',
  'computers',
  'delivery',
  'end-users',
  'exec',
  'files',
  'llm',
  'schedules',
] as const;

/** The services with tables and event consumers: they list projections and dead letters. */
export const SERVICES_WITH_TABLES = [
  'accounts',
  'agents',
  'audit',
  'billing',
  'computers',
  'delivery',
  'end-users',
  'exec',
  'llm',
  'schedules',
] as const;
