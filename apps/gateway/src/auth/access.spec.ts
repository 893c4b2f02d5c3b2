import { SCOPES } from '@berth/contracts/accounts';
import { describe, expect, it } from 'vitest';
import { accessRefusal, type AcceptedPrincipals } from './access.js';
import type { Principal } from './principal.js';

const accountId = 'acc_1';
const agentId = 'agt_1';
const key: Principal = { kind: 'key', accountId, keyId: 'key_1', scopes: ['read', 'deploy'] };
const endUser: Principal = {
  kind: 'end_user',
  accountId,
  endUserId: 'eus_1',
  tokenId: 'eut_1',
  agentId,
  scopes: ['chat'],
  externalId: 'ada',
  retryAfterSeconds: null,
};
const agent: Principal = { kind: 'agent', accountId, agentId };
const webhook: Principal = { kind: 'webhook', accountId, agentId, tokenId: 'wht_1' };
const codeOf = (principal: Principal, accepts: AcceptedPrincipals): string =>
  accessRefusal(principal, accepts)?.code ?? 'ok';

describe('a route that accepts one kind of principal', () => {
  it.each<[AcceptedPrincipals, Principal]>([
    [{ key: 'read' }, key],
    [{ end_user: 'any' }, endUser],
    [{ agent: true }, agent],
    [{ webhook: true }, webhook],
  ])('%j refuses all others', (accepts, principal) => {
    const codes = [key, endUser, agent, webhook].map((one) => [one.kind, codeOf(one, accepts)]);
    expect(codes).toEqual(
      [key, endUser, agent, webhook].map(({ kind }) => {
        if (kind === principal.kind) return [kind, 'ok'];
        // Agents have routes that no other credential knows.
        const isScoped = kind === 'end_user' && principal.kind !== 'agent';
        return [kind, isScoped ? 'token_scope' : 'unauthenticated'];
      }),
    );
  });
});

describe('a key', () => {
  it.each(SCOPES)('needs the scope %s where the route declares it', (scope) => {
    const refusal = accessRefusal(key, { key: scope });
    const holds = scope === 'read' || scope === 'deploy';
    expect(refusal?.context).toEqual(holds ? undefined : { requiredScope: scope });
    expect(accessRefusal({ ...key, scopes: [scope] }, { key: scope })).toBeUndefined();
  });

  it('needs all declared scopes; the error names the first missing one', () => {
    const accepts = { key: ['deploy', 'manage'] } as const;
    expect(accessRefusal(key, accepts)?.context).toEqual({ requiredScope: 'manage' });
    expect(accessRefusal({ ...key, scopes: ['manage'] }, accepts)?.context).toEqual({
      requiredScope: 'deploy',
    });
    expect(codeOf({ ...key, scopes: ['manage', 'deploy'] }, accepts)).toBe('ok');
  });
});

describe('a token', () => {
  it('of an end user needs the scope that the route declares', () => {
    expect(codeOf(endUser, { end_user: 'chat' })).toBe('ok');
    expect(codeOf(endUser, { key: 'read', end_user: 'files' })).toBe('token_scope');
  });
});
