import { createHash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { AuthenticateAgent } from '@berth/contracts/agents';
import { SECRET_PREFIXES } from '@berth/kernel';

const BEARER = /^Bearer +([^\s]+) *$/i;
const TOKEN = new RegExp(`^${SECRET_PREFIXES.agentToken}_([0-9a-z]{26})_(\\d{1,9})_[\\w-]{1,200}$`);

/** The agent token in a request; undefined if there is none. `Authorization` takes precedence over `x-api-key`. */
export const agentCredentialOf = (headers: IncomingHttpHeaders): AuthenticateAgent | undefined => {
  const { authorization, 'x-api-key': apiKey } = headers;
  const secret = authorization === undefined ? apiKey : BEARER.exec(authorization)?.[1];
  if (typeof secret !== 'string') return undefined;
  const [, agent, epoch] = TOKEN.exec(secret) ?? [];
  if (agent === undefined) return undefined;
  return {
    agentId: `agt_${agent}`,
    epoch: Number(epoch),
    tokenHash: createHash('sha256').update(secret).digest('hex'),
  };
};
