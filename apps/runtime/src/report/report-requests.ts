import { agentsRequests } from '@berth/contracts/agents';
import { computersRequests } from '@berth/contracts/computers';
import { boxOwner, type BoxOwner } from '@berth/contracts/runtime';

/** What a host reports about boxes, to the service that they belong to. */
export const REPORT_REQUESTS = {
  agents: {
    announceHost: agentsRequests.announceHost,
    reportObservation: agentsRequests.reportObservation,
    reportActivity: agentsRequests.reportActivity,
  },
  computers: {
    announceHost: computersRequests.announceHost,
    reportObservation: computersRequests.reportObservation,
    reportActivity: computersRequests.reportActivity,
  },
} as const satisfies Record<BoxOwner, object>;

/** What a host reports about one box. */
export const reportRequestsOf = (boxId: string): (typeof REPORT_REQUESTS)[BoxOwner] =>
  REPORT_REQUESTS[boxOwner(boxId) ?? 'agents'];
