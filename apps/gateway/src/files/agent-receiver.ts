import { filesRequests } from '@berth/contracts/files';
import type { Requester } from '@berth/messaging';
import { envelopeOf } from '../auth/caller.js';
import type { ApiRequest } from '../http/fastify-types.js';
import type { Receiver } from './staged-files.js';

/** The agent that a request sends a file to. */
export const agentReceiver = (requester: Requester, request: ApiRequest, agentId: string): Receiver => ({
  id: agentId,
  openStage: (refusedEpoch) =>
    requester.request(filesRequests.openStage, { ...envelopeOf(request), agentId, refusedEpoch }),
});
