export { AccountSuspensions } from './account-suspensions.js';
export { BoxWork, type WorkLimits } from './box-work.js';
export { EndUserSuspensions } from './end-user-suspensions.js';
export { HostHearing } from './host-hearing.js';
export { LOST_AFTER_SECONDS, type SeenHost } from './host-silence.js';
export { LostHostsTimer, type BoxesOnHosts } from './lost-hosts-timer.js';
export type { Owner } from './owner.js';
export {
  OwnerSuspensionQuery,
  refuseSuspended,
  suspensionOf,
  type OwnerSuspension,
} from './owner-suspension.js';
export { RememberSuspensions } from './remember-suspensions.js';
export { Suspensions, type Standing } from './suspensions.js';
export { TransitionRuns, type BoxState, type BoxStates, type DriveResult } from './transition-runs.js';
