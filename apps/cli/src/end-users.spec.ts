import { describe, expect, it } from 'vitest';
import { berth, type RecordedRequest, type ServiceResponse } from './recording-service.fixture.js';

const PATH = '/api/v1/end-users';

const endUser = (externalId: string, more: object = {}) => ({
  externalId,
  displayName: `name of ${externalId}`,
  metadata: { plan: 'pro' },
  tags: ['beta', 'eu'],
  status: 'active',
  suspendedAt: null,
  createdAt: '2026-11-22T08:00:00.000Z',
  updatedAt: '2026-11-22T09:00:00.000Z',
  lastActiveAt: null,
  agentCount: 2,
  policy: null,
  ...more,
});

const agent = {
  id: 'agt_1',
  name: 'scout',
  state: 'running',
  source: { kind: 'template' },
  templateId: 'echo',
  createdAt: '2026-11-22T10:00:00.000Z',
};

describe('berth end-users list', () => {
  const respond = ({ url }: RecordedRequest): ServiceResponse => ({
    status: 200,
    body: url.includes('cursor=next%2F2')
      ? { items: [endUser('ada', { lastActiveAt: '2026-11-23T07:00:00.000Z' })], nextCursor: null }
      : { items: [endUser('bob', { displayName: 'b\u001B[31m' })], nextCursor: 'next/2' },
  });

  it('prints all end users, page by page, without the control characters in their names', async () => {
    const { exitCode, out, seen } = await berth(['end-users', 'list'], { respond });
    expect(exitCode).toBe(0);
    expect(seen.map(({ url }) => url)).toEqual([`${PATH}?limit=200`, `${PATH}?limit=200&cursor=next%2F2`]);
    const [, bob, ada] = out.split('\n').map((line) => line.split(/ {2,}/));
    expect(bob).toEqual(['bob', 'b?[31m', 'active', '2', 'beta,eu', '-', '2026-11-22T08:00:00.000Z']);
    expect(ada?.[5]).toBe('2026-11-23T07:00:00.000Z');
  });

  it('sends every filter and stops at the limit', async () => {
    const filters = ['--tag', 'beta', '--status', 'active', '--prefix', 'a_%'];
    const times = ['--last-active-before', '2026-11-23', '--last-active-after', '2026-11-01'];
    const limit = ['--limit', '1', '--json'];
    const { out, seen } = await berth(['end-users', 'list', ...filters, ...times, ...limit], { respond });
    expect(JSON.parse(out)).toEqual([endUser('bob', { displayName: 'b\u001B[31m' })]);
    expect(seen.map(({ url }) => Object.fromEntries(new URL(url, 'http://berth').searchParams))).toEqual([
      {
        limit: '1',
        tag: 'beta',
        status: 'active',
        externalIdPrefix: 'a_%',
        lastActiveBefore: '2026-11-23',
        lastActiveAfter: '2026-11-01',
      },
    ]);
  });

  it.each([
    ['--status', 'asleep'],
    ['--limit', '0'],
    ['--limit', ''],
  ])('refuses %s %j without a request', async (option, value) => {
    const result = await berth(['end-users', 'list', option, value], { respond });
    expect(result).toMatchObject({ exitCode: 2, seen: [] });
  });
});

describe('berth end-users show', () => {
  const detail = {
    ...endUser('ada', { policy: { wakes_per_hour: 10 } }),
    agents: [agent],
    spend: {
      periodStart: '2026-11-01T00:00:00.000Z',
      aiCents: 7,
      capCents: null,
      computeMinutes: 1.5,
      computeCapMinutes: 60,
      resetsAt: '2026-12-01T00:00:00.000Z',
    },
  };
  const respond = () => ({ status: 200, body: detail });

  it('prints the end user, what it has used, its policy and its agents', async () => {
    const { exitCode, out, seen } = await berth(['end-users', 'show', 'ada@example.org'], { respond });
    expect(exitCode).toBe(0);
    expect(seen).toMatchObject([{ method: 'GET', url: `${PATH}/ada%40example.org` }]);
    for (const line of [
      /^name +name of ada$/m,
      /^tags +beta,eu$/m,
      /^metadata +\{"plan":"pro"\}$/m,
      /^compute minutes +1\.5 of 60$/m,
      /^LLM cents +7$/m,
      /^wakes_per_hour +10$/m,
      /^agt_1 +scout +running +echo /m,
    ])
      expect(out).toMatch(line);
  });

  it('prints the response with --json', async () => {
    const { out } = await berth(['end-users', 'show', 'ada', '--json'], { respond });
    expect(JSON.parse(out)).toEqual(detail);
  });
});

describe('berth end-users put', () => {
  const respond = () => ({ status: 201, body: endUser('ada') });

  it.each([
    ['sends only what is given', ['--display-name', 'Ada'], { displayName: 'Ada' }],
    ['sends nothing else for a new end user', [], {}],
    ['replaces tags by all that are given', ['--tag', 'a', '--tag', 'b,c'], { tags: ['a', 'b,c'] }],
    [
      'replaces metadata',
      ['--metadata', '{"plan":"pro","seats":3}'],
      { metadata: { plan: 'pro', seats: 3 } },
    ],
    [
      'clears with the --no- forms',
      ['--no-display-name', '--no-metadata', '--no-tag'],
      { displayName: null, metadata: null, tags: null },
    ],
  ])('%s', async (_title, options, body) => {
    const result = await berth(['end-users', 'put', 'ada', ...options], { respond });
    expect(result).toMatchObject({ exitCode: 0, out: '', seen: [{ method: 'PUT', url: `${PATH}/ada` }] });
    expect(result.seen[0]?.body).toEqual(body);
  });

  it('prints the end user with --json', async () => {
    const { out } = await berth(['end-users', 'put', 'ada', '--json'], { respond });
    expect(JSON.parse(out)).toEqual(endUser('ada'));
  });

  it.each(['{', '[]', 'null', '"text"'])('refuses the metadata %s without a request', async (metadata) => {
    const result = await berth(['end-users', 'put', 'ada', '--metadata', metadata], { respond });
    expect(result).toMatchObject({ exitCode: 2, seen: [] });
    expect(result.err).toContain('Give a JSON object');
  });
});

describe('berth end-users', () => {
  it('deletes one', async () => {
    const result = await berth(['end-users', 'delete', 'ada'], { respond: () => ({ status: 204 }) });
    expect(result).toMatchObject({ exitCode: 0, out: '', seen: [{ method: 'DELETE', url: `${PATH}/ada` }] });
  });

  it.each([
    ['suspend', 'suspended'],
    ['resume', 'active'],
  ])('%ss one and says that it is %s', async (verb, status) => {
    const respond = () => ({ status: 200, body: endUser('ada', { status }) });
    const result = await berth(['end-users', verb, 'ada'], { respond });
    expect(result).toMatchObject({ exitCode: 0, seen: [{ method: 'POST', url: `${PATH}/ada/${verb}` }] });
    expect(result.err).toContain(`ada is ${status}.`);
  });

  it('lists the agents of one', async () => {
    const respond = () => ({ status: 200, body: { items: [agent] } });
    const table = await berth(['end-users', 'agents', 'ada'], { respond });
    expect(table).toMatchObject({ exitCode: 0, seen: [{ method: 'GET', url: `${PATH}/ada/agents` }] });
    expect(table.out).toMatch(/^agt_1 +scout +running +echo /m);
    const json = await berth(['end-users', 'agents', 'ada', '--json'], { respond });
    expect(JSON.parse(json.out)).toEqual([agent]);
  });

  it.each([
    'show',
    'put',
    'delete',
    'suspend',
    'resume',
    'agents',
    'policy get',
    'policy set',
    'policy delete',
    'token create',
    'token revoke',
  ])(
    '%s sends no request for an external id that no end user can have or no URL can contain',
    async (command) => {
      for (const externalId of ['.', '..', '', 'a/b', 'a'.repeat(129)]) {
        const result = await berth(['end-users', ...command.split(' '), externalId]);
        expect(result).toMatchObject({ exitCode: 2, seen: [] });
      }
    },
  );

  it('exits 1 for an end user who does not exist', async () => {
    const detail = { code: 'end_user_not_found', message: 'There is no such end user.' };
    const result = await berth(['end-users', 'show', 'ada'], {
      respond: () => ({ status: 404, body: { detail } }),
    });
    expect(result.exitCode).toBe(1);
    expect(result.err).toContain(detail.message);
  });
});
