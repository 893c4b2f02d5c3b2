import { createHmac } from 'node:crypto';
import { SECRET_PREFIXES } from '@berth/kernel';

/** `BERTH_AGENT_TOKEN`: another one at every start, the same when the same start is asked for twice. */
export const agentToken = (secret: Buffer, agentId: string, epoch: number): string => {
  const mac = createHmac('sha256', secret)
    .update(`${agentId}\0${String(epoch)}`)
    .digest('base64url');
  return `${SECRET_PREFIXES.agentToken}_${agentId.slice(4)}_${String(epoch)}_${mac}`;
};
