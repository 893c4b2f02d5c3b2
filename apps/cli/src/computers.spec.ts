import { newId } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { berth, type RecordedRequest, type ServiceResponse } from './recording-service.fixture.js';

const id = newId('cmp');
const computer = (more: object = {}) => ({
  ...{ id, externalUserId: null, name: 'desk', status: 'running', display: { width: 1_280, height: 800 } },
  ...{ resources: { memMb: 2_048, vcpus: 2, diskGb: 10 }, idleTtlSeconds: 900, sleepAt: null },
  ...{ createdAt: '2026-11-21T08:00:00.000Z', lastActiveAt: '2026-11-21T09:00:00.000Z' },
  ...more,
});
const answers =
  (...responses: ServiceResponse[]) =>
  (): ServiceResponse =>
    responses.shift() ?? { status: 500 };

describe('berth computers list', () => {
  const respond = ({ url }: RecordedRequest): ServiceResponse =>
    url.includes('cursor=')
      ? { status: 200, body: { items: [computer({ id: 'cmp_2', name: null })], nextCursor: null } }
      : { status: 200, body: { items: [computer()], nextCursor: 'next' } };

  it('prints a line for each computer, up to the limit', async () => {
    const { exitCode, out, seen } = await berth(
      ['computers', 'list', '--limit', '1', '--status', 'running'],
      {
        respond,
      },
    );
    expect(exitCode).toBe(0);
    expect(seen.map(({ url }) => url)).toEqual(['/api/v1/computers?limit=1&status=running']);
    expect(out).toMatch(new RegExp(`^${id} +desk +running +- +1280x800 +2026-11-21T09`, 'm'));
  });

  it('prints all of them, or the page with the cursor of the next one', async () => {
    const all = await berth(['computers', 'list', '--all', '--quiet'], { respond });
    expect(all.out).toBe(`${id}\ncmp_2\n`);
    const page = await berth(['computers', 'list', '--limit', '1', '--json'], { respond });
    expect(JSON.parse(page.out)).toEqual({ items: [computer()], nextCursor: 'next' });
  });
});

describe('berth computers create', () => {
  it('sends only what was given and prints the id', async () => {
    const argv = ['computers', 'create', '--name', 'desk', '--display', '1920x1080', '--ttl', '0'];
    const { out, seen } = await berth(argv, { respond: () => ({ status: 201, body: computer() }) });
    expect(out).toBe(`${id}\n`);
    expect(seen[0]).toMatchObject({ method: 'POST', url: '/api/v1/computers' });
    expect(seen[0]?.body).toEqual({
      name: 'desk',
      display: { width: 1_920, height: 1_080 },
      idleTtlSeconds: 0,
    });
  });

  it('waits until the computer runs, or fails with its status', async () => {
    const starting = { status: 201, body: computer({ status: 'starting' }) };
    const argv = ['computers', 'create', '--wait', '--json'];
    const respond = answers(
      starting,
      { status: 202, body: computer({ status: 'starting' }) },
      { status: 200, body: computer() },
    );
    const { exitCode, out } = await berth(argv, { respond });
    expect([exitCode, JSON.parse(out)]).toEqual([0, computer()]);
    const failed = { status: 200, body: computer({ status: 'failed' }) };
    expect(await berth(argv, { respond: answers(starting, failed) })).toMatchObject({
      exitCode: 1,
      err: 'berth: The computer is failed.\n',
    });
  });
});

describe('a computer', () => {
  it('is named by its id or by a name that only one has', async () => {
    const pages = (...items: object[]) => ({ status: 200, body: { items, nextCursor: null } });
    const ok = { status: 200, body: computer() };
    const byId = await berth(['computers', 'get', id, '--json'], { respond: answers(ok) });
    expect(JSON.parse(byId.out)).toEqual(computer());
    const byName = await berth(['computers', 'get', 'desk'], { respond: answers(pages(computer()), ok) });
    expect(byName.seen.at(-1)?.url).toBe(`/api/v1/computers/${id}`);
    expect(byName.out).toMatch(/^resources +2048 MB, 2 vCPUs, 10 GB$/m);
    const two = await berth(['computers', 'get', 'desk'], {
      respond: answers(pages(computer(), computer({ id: 'cmp_2' }))),
    });
    expect(two).toMatchObject({ exitCode: 1, err: expect.stringContaining(`${id}, cmp_2`) });
    const none = await berth(['computers', 'get', 'desk'], { respond: answers(pages()) });
    expect(none).toMatchObject({ exitCode: 1, err: expect.stringContaining('no computer') });
  });

  it.each(['wake', 'sleep'])('does %s', async (verb) => {
    const { exitCode, err, seen } = await berth(['computers', verb, id], {
      respond: () => ({ status: 200, body: computer() }),
    });
    expect([exitCode, err]).toEqual([0, `${id} is running.\n`]);
    expect(seen[0]).toMatchObject({ method: 'POST', url: `/api/v1/computers/${id}/${verb}` });
  });

  it('is deleted without a question only with --yes', async () => {
    const refused = await berth(['computers', 'delete', id]);
    expect(refused).toMatchObject({ exitCode: 2, seen: [] });
    const done = await berth(['computers', 'delete', id, '--yes'], { respond: () => ({ status: 204 }) });
    expect(done).toMatchObject({ exitCode: 0, seen: [{ method: 'DELETE', url: `/api/v1/computers/${id}` }] });
  });
});

describe('berth computers usage', () => {
  it('reads all pages of one range', async () => {
    const figures = { activeSeconds: 60, wakes: 1, actions: 5, screenshots: 2, executions: 0 };
    const row = { computerId: id, name: 'desk', externalUserId: null, ...figures, totalCents: 0.5 };
    const range = { from: '2026-11-01T00:00:00.000Z', to: '2026-12-01T00:00:00.000Z' };
    const page = { ...range, rows: [row], totals: { ...figures, totalCents: 1 } };
    const respond = ({ url }: RecordedRequest): ServiceResponse => ({
      status: 200,
      body: { ...page, nextCursor: url.includes('cursor=') ? null : 'next' },
    });
    const { out, seen } = await berth(['computers', 'usage', '--end-user', 'ada'], { respond });
    expect(seen.map(({ url }) => decodeURIComponent(url))).toEqual([
      '/api/v1/computers/usage?externalUserId=ada',
      `/api/v1/computers/usage?from=${range.from}&to=${range.to}&externalUserId=ada&cursor=next`,
    ]);
    expect(out.match(new RegExp(`^${id} .* 0.5$`, 'gm'))).toHaveLength(2);
    expect(out).toMatch(/^together +- +- +60 +1 +5 +2 +0 +1$/m);
  });
});
