import { describe, expect, it } from 'vitest';
import { berth, type RecordedRequest, type ServiceResponse } from './recording-service.fixture.js';

const row = (agentId: string, externalUserId: string | null, more: object = {}) => ({
  ...{ agentId, agentName: `the "${agentId}"`, externalId: null, externalUserId, hostingBasis: 'metered' },
  ...{ activeSeconds: 0.1, computeMinutes: 0.001667, vcpuSeconds: 1, memGbSeconds: 1, diskGbSeconds: 1 },
  ...{ wakes: 1, chats: 2, executions: 3, llm: { requests: 4, inputTokens: 5, outputTokens: 6 } },
  ...{ hostingCents: 0.1, aiCents: 0.000001, totalCents: 0.100001 },
  ...more,
});

const report = (rows: readonly object[], nextCursor: string | null = null): ServiceResponse => ({
  status: 200,
  body: { from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z', rows, nextCursor },
});

const respond = ({ url }: RecordedRequest): ServiceResponse => {
  if (url.startsWith('/api/v1/usage/daily'))
    return report([row('agt_1', 'ada', { date: '2026-11-01' }), row('agt_2', null, { date: '2026-11-01' })]);
  return url.includes('cursor=next')
    ? report([row('agt_3', 'ada')])
    : report([row('agt_1', 'ada'), row('agt_2', null)], 'next');
};

const figures = {
  ...{ activeSeconds: 0.2, computeMinutes: 0.003334, vcpuSeconds: 2, memGbSeconds: 2, diskGbSeconds: 2 },
  ...{ wakes: 2, chats: 4, executions: 6 },
  ...{ llm: { requests: 8, inputTokens: 10, outputTokens: 12 } },
  ...{ hostingCents: 0.2, aiCents: 0.000002, totalCents: 0.200002 },
};

describe('berth usage', () => {
  it('prints every agent as a table, with all pages of the range that the first one has', async () => {
    const { exitCode, out, seen } = await berth(['usage', '--to', '2026-12-01'], { respond });
    expect(exitCode).toBe(0);
    expect(out.trim().split('\n')).toHaveLength(4);
    expect(out).toMatch(
      /^AGENT ID +AGENT NAME +EXTERNAL ID +EXTERNAL USER ID +HOSTING BASIS +ACTIVE SECONDS +COMPUTE MINUTES/,
    );
    expect(seen.map(({ url }) => new URL(url, 'http://localhost').searchParams.toString())).toEqual([
      'to=2026-12-01',
      'from=2026-11-01T00%3A00%3A00.000Z&to=2026-12-01T00%3A00%3A00.000Z&cursor=next',
    ]);
  });

  it('sums up by end user without losing a millionth of a cent', async () => {
    const { out } = await berth(['usage', '--by', 'end-user', '--format', 'json'], { respond });
    expect(JSON.parse(out)).toMatchObject([{ externalUserId: 'ada', ...figures }, { externalUserId: null }]);
  });

  it('sums up by day', async () => {
    const { out } = await berth(['usage', '--by', 'day', '--format', 'json'], { respond });
    expect(JSON.parse(out)).toEqual([{ date: '2026-11-01', ...figures }]);
  });

  it('prints CSV as RFC 4180 has it', async () => {
    const { out } = await berth(['usage', '--format', 'csv'], { respond });
    const [head, first] = out.split('\r\n');
    expect(head).toBe(
      'agentId,agentName,externalId,externalUserId,hostingBasis,activeSeconds,computeMinutes,vcpuSeconds,memGbSeconds,diskGbSeconds,wakes,chats,executions,llm.requests,llm.inputTokens,llm.outputTokens,hostingCents,aiCents,totalCents',
    );
    expect(first).toBe(
      'agt_1,"the ""agt_1""",,ada,metered,0.1,0.001667,1,1,1,1,2,3,4,5,6,0.1,0.000001,0.100001',
    );
  });

  it.each([
    ['--by', 'week'],
    ['--format', 'xml'],
  ])('refuses %s %s without a request', async (...option) => {
    const result = await berth(['usage', ...option], { respond: () => ({ status: 500 }) });
    expect(result).toMatchObject({ exitCode: 2, seen: [] });
  });
});

describe('berth account', () => {
  const account = {
    ...{ id: 'acc_1', name: 'Acme', plan: 'team', credits: { balanceCents: 12.5 } },
    key: { id: 'key_1', name: 'ci', scopes: ['read'] },
  };

  it('prints the plan and the credits', async () => {
    const { out } = await berth(['account'], { respond: () => ({ status: 200, body: account }) });
    for (const text of ['acc_1', 'Acme', 'team', '12.5', 'key_1 (read)']) expect(out).toContain(text);
    const body = { ...account, credits: { balanceCents: null } };
    expect((await berth(['account'], { respond: () => ({ status: 200, body }) })).out).toContain(
      'not counted',
    );
    const json = await berth(['account', '--json'], { respond: () => ({ status: 200, body: account }) });
    expect(JSON.parse(json.out)).toEqual(account);
  });
});
