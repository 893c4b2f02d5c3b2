import { accountsRequests } from '@berth/contracts/accounts';
import { webhookRequests, type AuthorizeWebhook, type WebhookCaller } from '@berth/contracts/delivery';
import { DomainError, type RequestDefinition } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import type { Authenticators } from './authenticators.js';
import { hashKey } from './credentials.js';
import { WebhookAuthentication, webhookTokenOf } from './webhook-authentication.js';

const AGENT = 'agt_01jd2m3k4n5p6q7r8s9t0v1w2x';
const caller: WebhookCaller = { accountId: 'acc_1', tokenId: 'tok_1', suspended: null };

/** Authenticates a call; returns the lookup, the principal and the headers of the response, or the error. */
const authenticate = async (
  request: { readonly headers?: object; readonly query?: object; readonly agentId?: string },
  found: WebhookCaller | DomainError = caller,
  requireWebhookTokens = false,
  standing: 'active' | 'suspended' = 'active',
) => {
  const lookups: AuthorizeWebhook[] = [];
  const headers: Record<string, unknown> = {};
  const requester = {
    request: <Req, Res>({ subject }: RequestDefinition<Req, Res>, payload: Req): Promise<Res> => {
      if (subject === accountsRequests.standing.subject)
        return Promise.resolve({ suspended: standing === 'suspended' } as Res);
      expect(subject).toBe(webhookRequests.authorize.subject);
      lookups.push(payload as unknown as AuthorizeWebhook);
      return found instanceof DomainError ? Promise.reject(found) : Promise.resolve(found as Res);
    },
  };
  const authenticators = {
    authenticate: () => Promise.reject(new DomainError('unauthenticated', 'unauthenticated', 'No.')),
  };
  const call = {
    ...{ headers: request.headers ?? {}, query: request.query ?? {}, principal: null },
    params: { agent_id: request.agentId ?? AGENT },
  } as unknown as ApiRequest;
  const reply = { headers: (more: object) => Object.assign(headers, more) } as unknown as ApiReply;
  const authentication = new WebhookAuthentication(authenticators as unknown as Authenticators, requester, {
    requireWebhookTokens,
  });
  const error: unknown = await authentication.authenticate(call, reply).then(
    () => undefined,
    (failure: unknown) => failure,
  );
  return { lookups, principal: call.principal, headers, error };
};

describe('the token of an invoke', () => {
  const header = (value: string) => ({ 'x-service-webhook-token': value });

  it.each([
    [header('wh_a'), {}, 'wh_a'],
    [header('wh_a'), { token: 'wh_b' }, 'wh_a'],
    [header(''), { token: 'wh_b' }, ''],
    [{}, { token: 'wh_b' }, 'wh_b'],
    [{}, { token: '' }, ''],
    [{}, { token: ['wh_b', 'wh_b'] }, ''],
    [{}, {}, undefined],
    [{}, null, undefined],
    [{ authorization: 'Bearer wh_a' }, {}, undefined],
  ])('of %j and %j is %j', (headers, query, token) => {
    expect(webhookTokenOf({ headers, query })).toBe(token);
  });
});

describe('an invoke', () => {
  it('sends the hash of its token, and whether one is required', async () => {
    const { lookups, principal, headers } = await authenticate({ query: { token: 'wh_a' } });
    expect(lookups).toEqual([{ agentId: AGENT, tokenHash: hashKey('wh_a'), tokenRequired: false }]);
    expect(principal).toEqual({ kind: 'webhook', accountId: 'acc_1', agentId: AGENT, tokenId: 'tok_1' });
    expect(headers).toEqual({});
    expect((await authenticate({}, caller, true)).lookups).toEqual([
      { agentId: AGENT, tokenHash: null, tokenRequired: true },
    ]);
  });

  it('without a token is told that this is deprecated', async () => {
    const { headers } = await authenticate({}, { ...caller, tokenId: null });
    expect(headers).toMatchObject({ deprecation: 'true', warning: expect.stringMatching(/^299 - "/) });
  });

  it('of an agent whose end user is suspended is 403', async () => {
    const suspended = 'end_user_suspended';
    const { error, principal } = await authenticate({}, { ...caller, suspended });
    expect(error).toMatchObject({ status: 403, code: suspended });
    // The audit records who was refused.
    expect(principal).toMatchObject({ kind: 'webhook', accountId: 'acc_1' });
  });

  it('is 403 from the suspension of the account to its resumption, as `accounts` tells it', async () => {
    const { error } = await authenticate({}, caller, false, 'suspended');
    expect(error).toMatchObject({ status: 403, code: 'account_suspended' });
    const late = await authenticate({}, { ...caller, suspended: 'account_suspended' });
    expect(late.error).toBeUndefined();
  });

  it('with an API key in its address is refused before any lookup', async () => {
    const { error, lookups } = await authenticate({ query: { token: `mk_${'a'.repeat(43)}` } });
    expect([error, lookups]).toMatchObject([{ status: 401 }, []]);
  });

  it('of a malformed id is 404 without a lookup', async () => {
    const { error, lookups } = await authenticate({ agentId: 'agt_x', query: { token: 'wrong' } });
    expect([error, lookups]).toMatchObject([{ status: 404, code: 'agent_not_found' }, []]);
  });

  it('with the token of an end user or an agent is refused, and one with a key is not', async () => {
    for (const token of [`eu_${'a'.repeat(43)}`, `at_${'a'.repeat(43)}`]) {
      const { error, lookups } = await authenticate({ headers: { authorization: `Bearer ${token}` } });
      expect([error, lookups]).toMatchObject([{ kind: 'unauthenticated' }, []]);
    }
    const { error } = await authenticate({ headers: { authorization: 'Bearer mk_key' } });
    expect(error).toBeUndefined();
  });

  it('is 503 if the lookup takes too long', async () => {
    const late = new DomainError('timeout', 'deadline_exceeded', 'Late.');
    expect((await authenticate({}, late)).error).toMatchObject({ kind: 'unavailable' });
  });
});
