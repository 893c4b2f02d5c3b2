import { describe, expect, it } from 'vitest';
import { berth, type RecordedRequest } from './recording-service.fixture.js';

const TOKENS = '/api/v1/end-users/ada/tokens';

const minted = {
  token: 'eu_secret',
  tokenId: 'tok_1',
  externalId: 'ada',
  agentId: 'agt_1',
  scopes: ['chat', 'files'],
  ttlSeconds: 900,
  expiresAt: '2026-11-23T08:15:00.000Z',
};

describe('berth end-users token create', () => {
  const respond = () => ({ status: 201, body: minted });

  it('prints only the token to standard output, and never to standard error', async () => {
    const result = await berth(['end-users', 'token', 'create', 'ada'], { respond });
    expect(result).toMatchObject({ exitCode: 0, out: 'eu_secret\n' });
    expect(result.err).toContain('agt_1 with chat, files until 2026-11-23T08:15:00.000Z');
    expect(result.err).not.toContain('eu_secret');
    expect(result.seen).toMatchObject([{ method: 'POST', url: TOKENS }]);
    expect(result.seen[0]?.body).toEqual({});
  });

  it('prints the whole response with --json', async () => {
    const result = await berth(['end-users', 'token', 'create', 'ada', '--json'], { respond });
    expect(JSON.parse(result.out)).toEqual(minted);
    expect(result.err).toBe('');
  });

  it('sends the scopes, the lifetime and the agent, whom a name can stand for', async () => {
    const options = ['--scope', 'chat', '--scope', 'files', '--ttl-seconds', '3600', '--agent', 'scout'];
    const { exitCode, seen } = await berth(['end-users', 'token', 'create', 'ada', ...options], {
      respond: ({ method }: RecordedRequest) =>
        method === 'GET'
          ? { status: 200, body: { items: [{ id: 'agt_1' }], nextCursor: null } }
          : { status: 201, body: minted },
    });
    expect(exitCode).toBe(0);
    expect(seen).toMatchObject([
      { method: 'GET', url: '/api/agents?limit=1&name=scout' },
      { method: 'POST', url: TOKENS },
    ]);
    expect(seen[1]?.body).toEqual({ scopes: ['chat', 'files'], ttlSeconds: 3600, agentId: 'agt_1' });
  });

  it.each([
    ['--scope', 'everything', 'Scopes are chat, files, console, logs, app.'],
    ['--ttl-seconds', '29', 'Give a whole number from 30 to 3600.'],
    ['--ttl-seconds', '3601', 'Give a whole number from 30 to 3600.'],
  ])('refuses %s %s without a request', async (option, value, message) => {
    const result = await berth(['end-users', 'token', 'create', 'ada', option, value], { respond });
    expect(result).toMatchObject({ exitCode: 2, seen: [] });
    expect(result.err).toContain(message);
  });
});

describe('berth end-users token revoke', () => {
  it('revokes all and says how many there were', async () => {
    const respond = () => ({ status: 200, body: { revoked: 3 } });
    const result = await berth(['end-users', 'token', 'revoke', 'ada'], { respond });
    expect(result).toMatchObject({ exitCode: 0, seen: [{ method: 'DELETE', url: TOKENS }] });
    expect(result.err).toContain('revoked: 3');
  });
});
