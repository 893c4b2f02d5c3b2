import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { newId } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import type { ApiReply } from '../http/fastify-types.js';
import { ConnectionShares } from './connection-shares.js';
import type { KeyPrincipal, WebhookPrincipal } from './principal.js';

const reply = (): ApiReply =>
  ({ raw: new ServerResponse(new IncomingMessage(new Socket())) }) as unknown as ApiReply;

const accountId = newId('acc');
const key: KeyPrincipal = { kind: 'key', accountId, keyId: newId('key'), scopes: ['read'] };
const webhook = (tokenId: string | null): WebhookPrincipal => ({
  kind: 'webhook',
  accountId,
  agentId: newId('agt'),
  tokenId,
});

describe('a call of a webhook', () => {
  it('counts for the account of the agent only with its token: anybody can call without', () => {
    const statusAfter = (tokenId: string | null): number | undefined => {
      const shares = new ConnectionShares({ maxConnections: 2 });
      shares.refusalOf(webhook(tokenId), reply());
      return shares.refusalOf(key, reply())?.status;
    };
    expect([statusAfter(null), statusAfter(newId('tok'))]).toEqual([undefined, 429]);
  });
});
