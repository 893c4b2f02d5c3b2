import { join } from 'node:path';
import { SCOPES, type Scope } from '@berth/contracts/accounts';
import { decideGiven, fold } from '@berth/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { describeGoldenEvents } from '@berth/testing';
import { viewOfKey, type KeyEvent } from './key.js';
import { keyDecider, type Mint } from './key.decider.js';
import { keyCodec } from './key.events.js';

const NOW = Date.UTC(2026, 10, 21, 8);

const mint: Mint = {
  type: 'Mint',
  keyId: 'key_1',
  accountId: 'acc_1',
  name: 'build server',
  scopes: ['deploy'],
  holderScopes: ['read', 'deploy', 'manage'],
  forFirstAccount: true,
  expiresAt: null,
  holderExpiresAt: null,
  now: NOW,
};
const minted: KeyEvent = {
  type: 'KeyMinted',
  keyId: 'key_1',
  accountId: 'acc_1',
  name: 'build server',
  scopes: ['read', 'deploy'],
  expiresAt: null,
  mintedAt: '2026-11-21T08:00:00.000Z',
};
const revoke = {
  type: 'Revoke',
  keyId: 'key_1',
  accountId: 'acc_1',
  holder: null,
  now: NOW + 1_000,
} as const;
const revoked: KeyEvent = {
  type: 'KeyRevoked',
  keyId: 'key_1',
  accountId: 'acc_1',
  revokedAt: '2026-11-21T08:00:01.000Z',
};

describeGoldenEvents(join(import.meta.dirname, '__events__'), keyCodec, {
  KeyMinted: true,
  KeyScopesExtended: true,
  KeyRevoked: true,
});

describe('minting a key', () => {
  const minting = (change: Partial<Mint>) => decideGiven(keyDecider, [], { ...mint, ...change });
  const complaints = (change: Partial<Mint>) => minting(change).refusal;

  it('records its account and scopes, which always include read', () => {
    expect(minting({}).events).toEqual([minted]);
    expect(minting({ scopes: [] }).events).toMatchObject([{ scopes: ['read'] }]);
  });

  it('lists each scope once, in a fixed order', () => {
    expect(minting({ scopes: ['manage', 'deploy', 'manage', 'read'] }).events).toMatchObject([
      { scopes: ['read', 'deploy', 'manage'] },
    ]);
  });

  const subsets = fc.subarray([...SCOPES]);

  it('gives every requested scope that the minting key holds', () => {
    fc.assert(
      fc.property(subsets, subsets, (scopes, others) => {
        const expected = SCOPES.filter((scope) => scope === 'read' || scopes.includes(scope));
        expect(minting({ scopes, holderScopes: [...scopes, ...others] }).events).toMatchObject([
          { scopes: expected },
        ]);
      }),
    );
  });

  it('refuses a scope that the minting key lacks, and names it', () => {
    fc.assert(
      fc.property(subsets, subsets, (scopes, holderScopes) => {
        const [missing] = scopes.filter((scope) => scope !== 'read' && !holderScopes.includes(scope));
        fc.pre(missing !== undefined);
        expect(minting({ scopes, holderScopes }).refusal).toMatchObject({
          kind: 'forbidden',
          code: 'missing_scope',
          context: { requiredScope: missing },
        });
      }),
    );
  });

  it('makes it expire no later than the minting key', () => {
    const [sooner, later] = ['2026-12-01T00:00:00.000Z', '2026-12-02T00:00:00.000Z'];
    const expiry = (expiresAt: string | null, holderExpiresAt: string | null) =>
      minting({ expiresAt, holderExpiresAt }).events;
    expect(expiry(null, sooner)).toMatchObject([{ expiresAt: sooner }]);
    expect(expiry(later, sooner)).toMatchObject([{ expiresAt: sooner }]);
    expect(expiry(sooner, later)).toMatchObject([{ expiresAt: sooner }]);
    expect(expiry(sooner, null)).toMatchObject([{ expiresAt: sooner }]);
  });

  it('is refused for a missing scope before its other fields are checked', () => {
    expect(complaints({ scopes: ['computers'], name: '' })).toMatchObject({ code: 'missing_scope' });
  });

  it('names every field that is wrong', () => {
    expect(complaints({ name: '', scopes: ['read', 'root'], expiresAt: 'soon' })).toMatchObject({
      kind: 'invalid',
      code: 'invalid_request',
      context: { fields: [{ path: 'name' }, { path: 'scopes[1]' }, { path: 'expiresAt' }] },
    });
  });

  it.each([['x'], ['x'.repeat(128)], ['🐙'.repeat(128)], ['Zürich büro'], [' ']])(
    'accepts the name %j',
    (name) => {
      expect(minting({ name }).events).toMatchObject([{ name }]);
    },
  );

  it.each([[''], ['x'.repeat(129)], ['nul\0'], ['line\nbreak'], ['\u001b[31m']])(
    'refuses the name %j',
    (name) => {
      expect(complaints({ name })).toMatchObject({ context: { fields: [{ path: 'name' }] } });
    },
  );

  it.each([
    ['2026-11-21T08:00:00.001Z', '2026-11-21T08:00:00.001Z'],
    ['2027-01-01T00:00:00+02:00', '2026-12-31T22:00:00.000Z'],
    ['2027-01-01', '2027-01-01T00:00:00.000Z'],
    ['9999-12-31T23:59:59.999Z', '9999-12-31T23:59:59.999Z'],
  ])('accepts the expiry %s and records it in UTC', (expiresAt, utc) => {
    expect(minting({ expiresAt }).events).toMatchObject([{ expiresAt: utc }]);
  });

  it.each([
    ['2026-11-21T08:00:00.000Z'],
    ['1999-01-01T00:00:00Z'],
    ['2027-01-01T00:00:00'],
    ['+275760-09-13T00:00:00Z'],
    ['9999-12-31T23:59:59-14:00'],
    ['2027-13-01T00:00:00Z'],
    ['Jan 1 2027'],
    [''],
  ])('refuses the expiry %j', (expiresAt) => {
    expect(complaints({ expiresAt })).toMatchObject({ context: { fields: [{ path: 'expiresAt' }] } });
  });

  it('happens once per key', () => {
    for (const history of [[minted], [minted, revoked]]) {
      expect(decideGiven(keyDecider, history, mint).refusal).toMatchObject({
        kind: 'conflict',
        code: 'key_already_minted',
        context: { keyId: 'key_1' },
      });
    }
  });
});

describe('the scope operate', () => {
  it('is held by keys of the first account only', () => {
    const operate = { ...mint, scopes: ['operate'], holderScopes: [...SCOPES] };
    expect(decideGiven(keyDecider, [], operate).events).toMatchObject([{ scopes: ['read', 'operate'] }]);
    expect(decideGiven(keyDecider, [], { ...operate, forFirstAccount: false }).refusal).toMatchObject({
      kind: 'forbidden',
      code: 'missing_scope',
      context: { requiredScope: 'operate' },
    });
  });
});

describe('extending the scopes of a key', () => {
  const extend = { type: 'ExtendScopes', keyId: 'key_1', scopes: SCOPES, now: NOW } as const;

  it('adds missing scopes and keeps the others', () => {
    const { events } = decideGiven(keyDecider, [minted], { ...extend, scopes: ['operate'] });
    expect(events).toMatchObject([{ type: 'KeyScopesExtended', scopes: ['read', 'deploy', 'operate'] }]);
    expect(viewOfKey(fold(keyDecider, [minted, ...events]), null)).toMatchObject({
      scopes: ['read', 'deploy', 'operate'],
      createdAt: minted.type === 'KeyMinted' ? minted.mintedAt : '',
    });
  });

  it('changes nothing of a key that has them, nor of a revoked one', () => {
    const { events } = decideGiven(keyDecider, [minted], extend);
    expect(decideGiven(keyDecider, [minted, ...events], extend).events).toEqual([]);
    expect(decideGiven(keyDecider, [minted, revoked], extend).events).toEqual([]);
  });
});

describe('revoking a key', () => {
  it('records the time of revocation', () => {
    expect(decideGiven(keyDecider, [minted], revoke).events).toEqual([revoked]);
  });

  it('is for itself, and for keys that hold all its scopes', () => {
    const by = (keyId: string, scopes: readonly Scope[]) =>
      decideGiven(keyDecider, [minted], { ...revoke, holder: { keyId, scopes } });
    for (const allowed of [by('key_1', ['read']), by('key_2', ['read', 'deploy', 'manage'])])
      expect(allowed.events).toEqual([revoked]);
    expect(by('key_2', ['read', 'manage'])).toMatchObject({
      events: [],
      refusal: { kind: 'forbidden', code: 'missing_scope', context: { requiredScope: 'deploy' } },
    });
  });

  it('that is already revoked changes nothing: the first time of revocation remains', () => {
    expect(decideGiven(keyDecider, [minted, revoked], { ...revoke, now: NOW + 9_000 }).events).toEqual([]);
  });

  it('treats the key of another account like an unknown one', () => {
    const foreign = decideGiven(keyDecider, [minted], { ...revoke, accountId: 'acc_2' }).refusal;
    const unknown = decideGiven(keyDecider, [], revoke).refusal;
    expect(unknown).toMatchObject({ kind: 'not_found', code: 'key_not_found' });
    expect(foreign).toEqual(unknown);
  });
});

describe('a key as the API shows it', () => {
  it('has every field of the contract, and no secret', () => {
    expect(viewOfKey(fold(keyDecider, [minted, revoked]), '2026-11-21T08:00:00.500Z')).toEqual({
      id: 'key_1',
      name: 'build server',
      scopes: ['read', 'deploy'],
      accountId: 'acc_1',
      createdAt: '2026-11-21T08:00:00.000Z',
      lastUsedAt: '2026-11-21T08:00:00.500Z',
      expiresAt: null,
      revokedAt: '2026-11-21T08:00:01.000Z',
    });
  });

  it('is null when it was never minted', () => {
    expect(viewOfKey(keyDecider.initial, null)).toBeNull();
  });
});
