import { createHmac, hkdfSync } from 'node:crypto';
import { SECRET_PREFIXES } from '@berth/kernel';
import type { Keyring } from '@berth/persistence';

/** The secret from which agents' tokens derive. It derives from the oldest key, so a rotation does not affect running agents. */
export const tokenSecretOf = ({ keys }: Keyring): Buffer => {
  const oldest = [...keys.values()].at(-1) ?? new Uint8Array();
  return Buffer.from(hkdfSync('sha256', oldest, '', 'berth/agent-token', 32));
};

/** `BERTH_AGENT_TOKEN`: a new one for every epoch; the same epoch always gets the same one. */
export const agentToken = (secret: Buffer, agentId: string, epoch: number): string => {
  const mac = createHmac('sha256', secret)
    .update(`${agentId}\0${String(epoch)}`)
    .digest('base64url');
  return `${SECRET_PREFIXES.agentToken}_${agentId.slice(4)}_${String(epoch)}_${mac}`;
};
