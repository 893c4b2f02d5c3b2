import type { OutgoingHttpHeaders } from 'node:http';
import { auditRequests } from '@berth/contracts/audit';
import type { AuthenticatedToken, TokenScope } from '@berth/contracts/end-users';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { APP_AGENT, APP_HOST, AppGateway, type SentToApp } from '../fixtures/app-gateway.fixture.js';

const app = AppGateway.forTests();
const send = (sent?: SentToApp) => app().send(sent);
const refusalTo = (sent: SentToApp) => app().refusalTo(sent);
const received = () => app().received();
const host = () => app().host;

describe('an end user', () => {
  const bearer = (token: string): OutgoingHttpHeaders => ({ authorization: `Bearer ${token}` });
  const token = (scopes: readonly TokenScope[] = ['app'], more: Partial<AuthenticatedToken> = {}): string =>
    app().test.services.token(scopes, APP_AGENT, more);
  const enter = (secret: string, sent: SentToApp = {}) =>
    send({
      path: `/.berth/enter?token=${secret}`,
      ...sent,
      headers: { authorization: undefined, ...sent.headers },
    });
  /** The headers of a browser that has entered. */
  const entered = async (secret = token()): Promise<OutgoingHttpHeaders> => {
    const { response } = await enter(secret);
    return { authorization: undefined, cookie: response.headers['set-cookie']?.[0]?.split(';')[0] };
  };

  it('is named to the app in a header that a request cannot forge; a caller with a key is not named', async () => {
    const claimed = { 'x-berth-external-user-id': 'forged-eve', X_Berth_External_User_Id: 'forged-eve' };
    for (const [headers, name] of [
      [bearer(token()), 'ada'],
      [await entered(), 'ada'],
      [{}, undefined],
    ] as const) {
      const seen = received();
      await send({ headers: { ...headers, ...claimed } });
      const program = await seen;
      expect(program.headers['x-berth-external-user-id']).toBe(name);
      expect(program.rawHeaders.join(' ')).not.toMatch(/forged-eve|eu_|mk_|berth_app/);
    }
  });

  it('gets a cookie for a token of this agent with the scope app, and for no other credential', async () => {
    const { response } = await enter(token());
    expect([response.statusCode, response.headers.location]).toEqual([303, '/']);
    expect(response.headers).toMatchObject({ 'referrer-policy': 'no-referrer', 'cache-control': 'no-store' });
    const cookie = response.headers['set-cookie']?.[0] ?? '';
    expect(cookie).toMatch(/^berth_app=[^;]+; Path=\/; HttpOnly; SameSite=Lax$/);
    expect(host().opened).toBe(0);
    const elsewhere = `http://${APP_HOST}/.berth/enter?token=${token()}`;
    for (const [secret, sent, refusal] of [
      ['', { path: elsewhere, headers: { host: 'localhost' } }, [400, 'invalid_request']],
      [token(['chat', 'files', 'console', 'logs']), {}, [403, 'token_scope']],
      [app().test.services.token(['app'], newId('agt')), {}, [404, 'agent_not_found']],
      [token(['app'], { suspended: true }), {}, [403, 'end_user_suspended']],
      [token(['app'], { retryAfterSeconds: 3 }), {}, [429, 'rate_limited']],
      [app().key, {}, [401, 'unauthenticated']],
      [`${token()}&token=${token()}`, {}, [401, 'unauthenticated']],
      [token(), { method: 'POST' }, [405, 'method_not_allowed']],
    ] as const) {
      const { response: refused, body } = await enter(secret, sent);
      expect([[refused.statusCode, body.detail?.code], refused.headers['set-cookie']]).toEqual([
        refusal,
        undefined,
      ]);
    }
  });

  it('is refused with its cookie immediately after the revocation of its token', async () => {
    const secret = token();
    const headers = await entered(secret);
    expect((await send({ headers })).text).toBe('here');
    app().test.services.revoke(secret);
    expect(await refusalTo({ headers })).toEqual([401, 'unauthenticated']);
  });

  it.each<[string, OutgoingHttpHeaders, boolean]>([
    ['of the app itself', { origin: `http://${APP_HOST}`, 'sec-fetch-site': 'same-origin' }, true],
    ['of its URL, whose port a proxy has taken from Host', { origin: 'appUrl' }, true],
    ['of another app', { origin: `http://x${APP_HOST}` }, false],
    ['of no origin', { origin: 'null' }, false],
    ['of the same site', { 'sec-fetch-site': 'same-site' }, false],
    [
      'of another site',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', 'sec-fetch-dest': 'image' },
      false,
    ],
    [
      'of a link on another site',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' },
      true,
    ],
    [
      'of a frame on another site',
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
      false,
    ],
  ])(
    'with a cookie sends requests of the app itself and follows links to it, no more: %s',
    async (_what, headers, isAllowed) => {
      const cookie = await entered();
      const origin =
        headers.origin === 'appUrl' ? `http://${APP_HOST}:${String(app().port)}` : headers.origin;
      for (const method of ['GET', 'HEAD', 'OPTIONS']) {
        const { response } = await send({ method, headers: { ...cookie, ...headers, origin } });
        const isNavigation = headers['sec-fetch-dest'] === 'document';
        expect([method, response.statusCode]).toEqual([
          method,
          isAllowed && (!isNavigation || method === 'GET') ? 200 : 403,
        ]);
      }
      // A page of another origin cannot make a browser send the token itself.
      expect((await send({ headers: { ...bearer(token()), ...headers } })).text).toBe('here');
    },
  );

  it('beyond its rate is refused with 429 and Retry-After, without a request to the app', async () => {
    const { response, body } = await send({ headers: bearer(token(['app'], { retryAfterSeconds: 9 })) });
    expect([response.statusCode, body.detail?.code, response.headers['retry-after']]).toEqual([
      429,
      'rate_limited',
      '9',
    ]);
    expect(host().opened).toBe(0);
  });

  it('is named in the audit for each kind of refusal', async () => {
    const tokenId = newId('tok');
    const endUserId = newId('eus');
    const of = (scopes: readonly TokenScope[], more: Partial<AuthenticatedToken> = {}) =>
      token(scopes, { tokenId, endUserId, ...more });
    await refusalTo({ headers: bearer(of(['chat'])) });
    await refusalTo({ method: 'PUT', headers: bearer(of(['app'], { suspended: true })) });
    await refusalTo({ method: 'PATCH', headers: { ...(await entered(of(['app']))), origin: 'null' } });
    const reported = () =>
      app()
        .test.services.requestsTo(auditRequests.recordRefusal)
        .map(({ payload }) => payload);
    await eventually(() => expect(reported()).toHaveLength(3));
    const actor = { kind: 'end_user', id: endUserId };
    expect(reported()).toMatchObject([
      { actor, credentialId: tokenId, route: 'GET app', code: 'token_scope' },
      { actor, credentialId: tokenId, route: 'PUT app', code: 'end_user_suspended' },
      { actor, credentialId: tokenId, route: 'PATCH app', code: 'foreign_origin' },
    ]);
  });
});
