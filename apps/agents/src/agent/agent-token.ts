import { createHash, createHmac, hkdfSync, timingSafeEqual } from 'node:crypto';
import { SECRET_PREFIXES } from '@berth/kernel';
import type { Keyring } from '@berth/persistence';
import type { LiveAgent } from './agent.js';

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

/** Whether `tokenHash` (SHA-256, hex) is that of the token of this epoch. */
export const isAgentToken = (
  tokenHash: string,
  secret: Buffer,
  { agentId, epoch }: { readonly agentId: string; readonly epoch: number },
): boolean => {
  const expected = createHash('sha256')
    .update(agentToken(secret, agentId, epoch))
    .digest('hex');
  return (
    tokenHash.length === expected.length && timingSafeEqual(Buffer.from(tokenHash), Buffer.from(expected))
  );
};

/** The epochs whose tokens are good: that of the start that lives. A thaw may turn out to be a start. */
export const tokenEpochsOf = ({ life, epoch, startEpoch }: LiveAgent): readonly number[] => {
  switch (life.state) {
    case 'running':
    case 'stopping':
      return [startEpoch];
    case 'deploying':
    case 'starting':
      return life.thaw ? [startEpoch, epoch] : [epoch];
    case 'stopped':
    case 'sleeping':
    case 'failed':
      return [];
  }
};
