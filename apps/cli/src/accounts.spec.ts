import { describe, expect, it } from 'vitest';
import { berth, type RecordedRequest, type ServiceResponse } from './recording-service.fixture.js';

const PATH = '/api/v1/operations/accounts';

const account = (id: string, suspendedAt: string | null = null) => ({
  id,
  name: `name of ${id}`,
  planId: 'default',
  suspended: suspendedAt !== null,
  suspendedAt,
  createdAt: '2026-11-23T08:00:00.000Z',
});

describe('berth accounts', () => {
  it('lists every account, page by page', async () => {
    const respond = ({ url }: RecordedRequest): ServiceResponse => ({
      status: 200,
      body: url.includes('cursor=next')
        ? { items: [account('acc_1', '2026-11-23T09:00:00.000Z')], nextCursor: null }
        : { items: [account('acc_2')], nextCursor: 'next' },
    });
    const { exitCode, out } = await berth(['accounts', 'list'], { respond });
    expect(exitCode).toBe(0);
    for (const text of ['acc_1', 'acc_2', '2026-11-23T09:00:00.000Z', 'default']) expect(out).toContain(text);
    const json = await berth(['accounts', 'list', '--json'], { respond });
    expect(JSON.parse(json.out)).toEqual([account('acc_2'), account('acc_1', '2026-11-23T09:00:00.000Z')]);
  });

  it('creates one and prints only its key to standard output', async () => {
    const respond = () => ({ status: 201, body: { ...account('acc_1'), key: 'mk_x', keyId: 'key_1' } });
    const result = await berth(['accounts', 'create', 'Acme', '--plan', 'seats'], { respond });
    expect(result).toMatchObject({
      exitCode: 0,
      out: 'mk_x\n',
      seen: [{ method: 'POST', url: PATH, body: { name: 'Acme', planId: 'seats' } }],
    });
    expect(result.err).toContain('acc_1');
    expect(result.err).not.toContain('mk_x');
  });

  it.each([
    ['suspend', true],
    ['resume', false],
  ])('%ss one', async (verb, suspended) => {
    const respond = () => ({ status: 200, body: account('acc_1') });
    expect(await berth(['accounts', verb, 'acc_1'], { respond })).toMatchObject({
      exitCode: 0,
      seen: [{ method: 'PUT', url: `${PATH}/acc_1`, body: { suspended } }],
    });
  });

  it('gives one another plan', async () => {
    const respond = () => ({ status: 200, body: account('acc_1') });
    expect(await berth(['accounts', 'plan', 'acc_1', 'team'], { respond })).toMatchObject({
      exitCode: 0,
      seen: [{ method: 'PUT', url: `${PATH}/acc_1`, body: { planId: 'team' } }],
    });
  });

  it('grants credits, also negative ones, and prints the balance', async () => {
    const respond = () => ({ status: 200, body: { accountId: 'acc_1', balanceCents: 12.5 } });
    expect(await berth(['accounts', 'credits', 'acc_1', '500', '--note', 'paid'], { respond })).toMatchObject(
      {
        exitCode: 0,
        out: '12.5\n',
        seen: [{ method: 'POST', url: `${PATH}/acc_1/credits`, body: { cents: 500, note: 'paid' } }],
      },
    );
    const taken = await berth(['accounts', 'credits', 'acc_1', '--', '-20'], { respond });
    expect(taken.seen).toMatchObject([{ body: { cents: -20 } }]);
    expect(await berth(['accounts', 'credits', 'acc_1', '1.5'], { respond })).toMatchObject({
      exitCode: 2,
      seen: [],
    });
  });

  it('mints another first key and prints only that to standard output', async () => {
    const respond = () => ({ status: 201, body: { id: 'key_1', key: 'mk_y' } });
    expect(await berth(['accounts', 'keys', 'acc_1'], { respond })).toMatchObject({
      exitCode: 0,
      out: 'mk_y\n',
      seen: [{ method: 'POST', url: `${PATH}/acc_1/keys` }],
    });
  });
});
