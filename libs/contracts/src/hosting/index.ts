// What the contexts say alike whose things live in boxes on runtime hosts: agents and computers.
export type { ActivityKind } from './activity-kind.js';
export type { AwakeAgent } from './awake-agent.js';
export { commandMembers } from './command.schemas.js';
export type { SetEndUserStanding } from './end-user-standing.js';
export { ENDED_STATUSES, EXECUTION_STATUSES, type ExecutionStatus } from './execution-status.js';
export type { ExecutionView } from './execution-view.js';
export type { Capacity, HostFigures } from './host-figures.js';
export type { AnnounceHost, HostOrders, ReportActivity, ReportObservation } from './host-reports.js';
export type { ObservedAgent, WantedIdleTime } from './observed-agent.js';
export type { OpenedStage, OpenedTransfer, PutFile, StagedRef } from './opened-transfers.js';
