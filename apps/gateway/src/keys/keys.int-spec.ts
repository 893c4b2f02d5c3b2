import { accountsRequests, type KeyView } from '@berth/contracts/accounts';
import { newId } from '@berth/kernel';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';

let test: TestGateway;

beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.stop());
beforeEach(() => {
  test.services.reset();
  test.services.agents.clear();
});

const fieldsOf = async (...args: Parameters<TestGateway['call']>): Promise<readonly string[] | undefined> => {
  const { status, body } = await test.call(...args);
  expect([status, body.detail?.code]).toEqual([400, 'invalid_request']);
  return body.detail?.fields?.map(({ path }) => path);
};

describe('keys', () => {
  const view: KeyView = {
    id: newId('key'),
    name: 'ci',
    scopes: ['read', 'deploy'],
    accountId: newId('acc'),
    createdAt: '2026-11-21T10:00:00.000Z',
    lastUsedAt: null,
    expiresAt: null,
    revokedAt: null,
  };

  it('are minted with scopes of the minting key, listed, and revoked', async () => {
    test.services.on(accountsRequests.mintKey, () => ({ ...view, key: 'mk_x' }));
    test.services.on(accountsRequests.listKeys, () => ({ items: [view], nextCursor: null }));
    test.services.on(accountsRequests.revokeKey, () => view);
    const key = test.services.key(['read', 'deploy', 'manage']);
    const json = { name: 'ci', scopes: ['deploy'], expiresAt: '2999-01-01T00:00:00+01:00' };
    const minted = await test.call('POST', '/api/v1/keys', { key, json });
    expect([minted.status, minted.body]).toEqual([201, { ...view, key: 'mk_x' }]);
    expect(test.services.requestsTo(accountsRequests.mintKey)[0]?.payload).toMatchObject({
      scopes: ['read', 'deploy'],
      holderScopes: ['read', 'deploy', 'manage'],
      expiresAt: '2998-12-31T23:00:00.000Z',
    });
    expect((await test.call('GET', '/api/v1/keys?limit=1', { key })).body).toEqual({
      items: [view],
      nextCursor: null,
    });
    expect((await test.call('DELETE', `/api/v1/keys/${view.id}`, { key })).status).toBe(204);
  });

  it.each([
    [{ scopes: [] }, ['name']],
    [{ name: 'x' }, ['scopes']],
    [{ name: 'x', scopes: 'read' }, ['scopes']],
    [{ name: 'x', scopes: ['root'] }, ['scopes']],
    [{ name: 'x', scopes: ['read', 'read'] }, ['scopes']],
    [{ name: 'x', scopes: [], expiresAt: '2020-01-01T00:00:00Z' }, ['expiresAt']],
    [{ name: 'x', scopes: [], expiresAt: '2999-02-30T00:00:00Z' }, ['expiresAt']],
    [{ name: 'x', scopes: [], expiresAt: 4_102_444_800 }, ['expiresAt']],
  ])('are refused for the body %j', async (json, fields) => {
    expect(await fieldsOf('POST', '/api/v1/keys', { key: test.services.key(), json })).toEqual(fields);
  });
});
