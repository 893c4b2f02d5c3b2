import { webhookRequests, type AuthorizeWebhook, type WebhookCaller } from '@berth/contracts/delivery';
import { DomainError, type RequestDefinition } from '@berth/kernel';
import { afterEach, describe, expect, it, vi } from 'vitest';
import type { ApiReply, ApiRequest } from '../http/fastify-types.js';
import type { Authenticators } from './authenticators.js';
import { hashKey } from './credentials.js';
import { WebhookAuthentication, webhookTokenOf } from './webhook-authentication.js';

const AGENT = 'agt_01jd2m3k4n5p6q7r8s9t0v1w2x';
const caller: WebhookCaller = { accountId: 'acc_1', tokenId: 'tok_1', suspended: null };

interface Call {
  readonly headers?: object;
  readonly query?: object;
  readonly agentId?: string;
}

const requestOf = ({ headers = {}, query = {}, agentId = AGENT }: Call): ApiRequest =>
  ({ headers, query, principal: null, params: { agent_id: agentId } }) as unknown as ApiRequest;

/** Authenticates calls one after the other; `found` is what the lookups find. */
class Gateway {
  readonly lookups: AuthorizeWebhook[] = [];
  found: WebhookCaller | DomainError = caller;
  readonly authentication: WebhookAuthentication;

  constructor(requireWebhookTokens = false) {
    const requester = {
      request: <Req, Res>({ subject }: RequestDefinition<Req, Res>, payload: Req): Promise<Res> => {
        expect(subject).toBe(webhookRequests.authorize.subject);
        this.lookups.push(payload as unknown as AuthorizeWebhook);
        const { found } = this;
        return found instanceof DomainError ? Promise.reject(found) : Promise.resolve(found as Res);
      },
    };
    const authenticators = {
      authenticate: () => Promise.reject(new DomainError('unauthenticated', 'unauthenticated', 'No.')),
    } as unknown as Authenticators;
    this.authentication = new WebhookAuthentication(authenticators, requester, { requireWebhookTokens });
  }

  /** Returns the principal and the headers of the response, or the error. */
  async authenticate(how: Call) {
    const headers: Record<string, unknown> = {};
    const call = requestOf(how);
    const reply = { headers: (more: object) => Object.assign(headers, more) } as unknown as ApiReply;
    const error: unknown = await this.authentication.authenticate(call, reply).then(
      () => undefined,
      (failure: unknown) => failure,
    );
    return { principal: call.principal, headers, error };
  }
}

/** Authenticates one call; returns the lookups, too. */
const authenticate = async (
  request: Call,
  found: WebhookCaller | DomainError = caller,
  requireWebhookTokens = false,
) => {
  const gateway = new Gateway(requireWebhookTokens);
  gateway.found = found;
  return { ...(await gateway.authenticate(request)), lookups: gateway.lookups };
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

  it('without a token gets a response that marks such calls as deprecated', async () => {
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

describe('a caller that was authorized a moment ago', () => {
  const query = { token: 'wh_a' };
  afterEach(() => vi.useRealTimers());

  it('is remembered for a minute, during which only the command looks it up', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const gateway = new Gateway();
    const first = await gateway.authenticate({ query });
    vi.advanceTimersByTime(59_999);
    expect(await gateway.authenticate({ query })).toEqual(first);
    expect(gateway.lookups).toHaveLength(1);
    vi.advanceTimersByTime(1);
    await gateway.authenticate({ query });
    expect(gateway.lookups).toHaveLength(2);
  });

  it('is one with the same token of the same agent', async () => {
    const gateway = new Gateway();
    const other = AGENT.replace(/x$/, 'y');
    for (const call of [{ query }, { query: { token: 'wh_b' } }, {}, { query, agentId: other }])
      await gateway.authenticate(call);
    expect(gateway.lookups).toHaveLength(4);
  });

  it('is looked up before its request is repeated, which may replay a stored response', async () => {
    const gateway = new Gateway();
    await gateway.authenticate({ query });
    gateway.found = new DomainError('unauthenticated', 'unauthenticated', 'Replaced.');
    const { error } = await gateway.authenticate({ query, headers: { 'idempotency-key': 'k' } });
    expect(error).toMatchObject({ kind: 'unauthenticated' });
  });

  it('is no longer once its command was refused', async () => {
    const gateway = new Gateway();
    await gateway.authenticate({ query });
    gateway.authentication.noteRefusal(
      requestOf({ query }),
      new DomainError('forbidden', 'account_suspended', 'No.'),
    );
    gateway.found = { ...caller, suspended: 'account_suspended' };
    for (let n = 1; n <= 2; n++) {
      const { error } = await gateway.authenticate({ query });
      expect([error, gateway.lookups.length]).toMatchObject([
        { status: 403, code: 'account_suspended' },
        n + 1,
      ]);
    }
  });

  it('sends with its command what authorizes it', () => {
    const claim = new Gateway(true).authentication.claimOf(requestOf({ query }));
    expect(claim).toEqual({ agentId: AGENT, tokenHash: hashKey('wh_a'), tokenRequired: true });
  });
});

describe('a caller whose rate is used up', () => {
  const query = { token: 'wh_wrong' };
  const usedUp = new DomainError('exhausted', 'rate_limited', 'No.', { retryAfterSeconds: 30 });
  afterEach(() => vi.useRealTimers());

  it.each([
    ['wrong', query],
    ['missing', {}],
  ])('is refused without a look-up for half a second if its token is %s', async (_, sent) => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const gateway = new Gateway();
    gateway.found = usedUp;
    if (sent === query) await gateway.authenticate({ query });
    else gateway.authentication.noteRefusal(requestOf({}), usedUp);
    const before = gateway.lookups.length;
    vi.advanceTimersByTime(499);
    expect(await gateway.authenticate({ query: sent })).toMatchObject({ error: usedUp, principal: null });
    expect(gateway.lookups).toHaveLength(before);
    vi.advanceTimersByTime(1);
    gateway.found = caller;
    expect((await gateway.authenticate({ query: sent })).error).toBeUndefined();
    expect(gateway.lookups).toHaveLength(before + 1);
  });

  it('is looked up if another error refused it, if its token was right, and if its request may have been answered before', async () => {
    const gateway = new Gateway();
    gateway.authentication.noteRefusal(requestOf({ query: { token: 'wh_a' } }), usedUp);
    gateway.authentication.noteRefusal(requestOf({}), new DomainError('exhausted', 'queue_full', 'No.'));
    for (const call of [{ query: { token: 'wh_a' } }, {}])
      expect((await gateway.authenticate(call)).error).toBeUndefined();
    gateway.authentication.noteRefusal(requestOf({}), usedUp);
    const { error } = await gateway.authenticate({ headers: { 'idempotency-key': 'k' } });
    expect(error).toBeUndefined();
  });

  it('delays no other caller of the same agent', async () => {
    const gateway = new Gateway();
    gateway.found = usedUp;
    await gateway.authenticate({ query });
    gateway.found = caller;
    for (const call of [{ query: { token: 'wh_a' } }, {}])
      expect((await gateway.authenticate(call)).error).toBeUndefined();
  });
});
