export { backoff, pause } from './backoff.js';
export type { FailingWork, Work } from './supervised-work.js';
export { Supervisor } from './supervisor.js';
export { within } from './within.js';
export { NotReady, RestartLater } from './work-failures.js';
