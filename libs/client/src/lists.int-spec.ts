import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { atOnce, json, ok, refusal, rejection, TestServer } from './server.fixture.js';

let server: TestServer;
beforeAll(async () => (server = await TestServer.start()));
afterEach(() => server.reset());
afterAll(() => server.close());

/** Three pages, of which the second is empty. */
const threePages = (): void => {
  const pages: Record<string, unknown> = {
    '': { items: [{ id: '1' }, { id: '2' }], nextCursor: 'two+/=' },
    'two+/=': { items: [], nextCursor: 'three' },
    three: { items: [{ id: '3' }], nextCursor: null },
  };
  server.answer = ({ query }, response) => json(response, 200, pages[query.get('cursor') ?? '']);
};

const idsOf = async (items: AsyncIterable<{ id: string }>): Promise<string[]> => {
  const ids: string[] = [];
  for await (const { id } of items) ids.push(id);
  return ids;
};

describe('a list', () => {
  it('iterates over all pages with the same filters, also past an empty page', async () => {
    threePages();
    expect(
      await idsOf(server.client().agents.list({ state: 'running', limit: 2, label: undefined })),
    ).toEqual(['1', '2', '3']);
    expect(server.received.map(({ target }) => target)).toEqual([
      '/api/agents?state=running&limit=2',
      '/api/agents?state=running&limit=2&cursor=two%2B%2F%3D',
      '/api/agents?state=running&limit=2&cursor=three',
    ]);
  });

  it('is a promise of its first page, from which one can go on', async () => {
    threePages();
    const list = server.client().agents.list();
    expect(list).toBeInstanceOf(Promise);
    const page = await list;
    expect(page.items).toEqual([{ id: '1' }, { id: '2' }]);
    expect(page.nextCursor).toBe('two+/=');
    expect(await idsOf(page)).toEqual(['1', '2', '3']);
    expect(server.received).toHaveLength(3);
    expect((await Promise.all([list, list.finally(() => undefined)]))[0]).toBe(page);
  });

  it('begins where its cursor says', async () => {
    threePages();
    expect(await idsOf(server.client().agents.list({ cursor: 'three' }))).toEqual(['3']);
  });

  it('sends nothing before it is awaited, and one request then', async () => {
    threePages();
    const list = server.client().agents.list();
    expect(server.received).toHaveLength(0);
    await list;
    await list;
    expect(server.received).toHaveLength(1);
  });

  it('without a cursor has one page', async () => {
    server.answer = ok({ items: [{ id: 'echo' }] });
    const page = await server.client().templates.list();
    expect(page.nextCursor).toBeNull();
    expect(await idsOf(page)).toEqual(['echo']);
  });

  it('repeats each page, and rejects with what the service refuses', async () => {
    server.answers(
      atOnce(503),
      ok({ items: [{ id: '1' }], nextCursor: 'x' }),
      atOnce(503),
      refusal(404, { code: 'gone', message: 'Gone.' }),
    );
    expect(await rejection(idsOf(server.client().agents.list()))).toMatchObject({ code: 'gone' });
    expect(server.received).toHaveLength(4);
    expect(
      await server
        .client()
        .agents.list()
        .catch((error: unknown) => error),
    ).toMatchObject({ status: 404 });
  });
});

describe('logs, files and usage', () => {
  it('return the answer as it is, with members that this version does not know', async () => {
    const answer = { logs: [], rows: [], entries: [], nextCursor: 'c', unknown: { a: [1] } };
    server.answer = ok(answer);
    const berth = server.client();
    expect(await berth.agents.logs('a', { limit: 5, since: new Date(0) })).toEqual(answer);
    expect(await berth.files.list('a')).toEqual(answer);
    expect(await berth.usage.daily({ from: new Date(0), to: '2026-01-01' })).toEqual(answer);
    expect(server.received.map(({ target }) => target)).toEqual([
      '/api/agents/a/logs?limit=5&since=1970-01-01T00%3A00%3A00.000Z',
      '/api/agents/a/files/list',
      '/api/v1/usage/daily?from=1970-01-01T00%3A00%3A00.000Z&to=2026-01-01',
    ]);
  });
});
