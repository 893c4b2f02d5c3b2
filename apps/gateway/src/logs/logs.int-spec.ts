import { accountsRequests } from '@berth/contracts/accounts';
import { agentsRequests } from '@berth/contracts/agents';
import { runtimeRequests, type LogEntry, type LogsPage } from '@berth/contracts/runtime';
import { DomainError, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { anAgent } from '../fixtures/test-services.fixture.js';
import { startTestGateway, silent, type TestGateway } from '../fixtures/gateway.fixture.js';
import { startGateway } from '../start-gateway.js';
import { MAX_FOLLOWED_STREAMS } from './followed-streams.js';

let test: TestGateway;
const entries: LogEntry[] = [];

beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.stop());
beforeEach(() => {
  test.services.reset();
  entries.length = 0;
  test.services.on(agentsRequests.locate, () => ({ host: 'host1', guest }));
  test.services.on(runtimeRequests.logs, readEntries);
});

const entry = (message: string): LogEntry => ({
  timestamp: '2026-11-21T10:00:00.000Z',
  level: 'info',
  source: 'agent',
  message,
});

/** Shorter than a host waits, so that a test sees what follows an empty response. */
const MAX_WAIT_MS = 600;

/** Reads as a host does: without a cursor the newest entries, with one the entries after it, for which it waits. */
const readEntries = async ({
  cursor,
  limit,
  waitMs,
}: {
  cursor: string | null;
  limit: number;
  waitMs: number;
}): Promise<LogsPage> => {
  const from = cursor === null ? Math.max(0, entries.length - limit) : Number(cursor);
  const giveUpAt = Date.now() + Math.min(waitMs, MAX_WAIT_MS);
  while (entries.length <= from && Date.now() < giveUpAt)
    await new Promise((resolve) => setTimeout(resolve, 10));
  const logs = entries.slice(from, from + limit);
  return { logs, nextCursor: String(from + logs.length) };
};

interface Followed {
  readonly headers: Headers;
  /** Everything received so far. */
  text(): string;
  /** Resolves when the service has closed the stream. */
  readonly ended: Promise<void>;
  hangUp(): void;
}

const open: Followed[] = [];
afterEach(() => {
  for (const followed of open.splice(0)) followed.hangUp();
});

const follow = async (
  key: string,
  options: { query?: string; url?: string; lastEventId?: string; agentId?: string } = {},
): Promise<Followed> => {
  const hangUp = new AbortController();
  const base = (options.url ?? test.gateway.url).replace('localhost', '127.0.0.1');
  const agentId = options.agentId ?? newId('agt');
  const response = await fetch(`${base}/api/agents/${agentId}/logs?follow=true${options.query ?? ''}`, {
    headers: {
      authorization: `Bearer ${key}`,
      ...(options.lastEventId === undefined ? {} : { 'last-event-id': options.lastEventId }),
    },
    signal: hangUp.signal,
  });
  let text = '';
  const decoder = new TextDecoder();
  const ended = (async () => {
    for await (const chunk of response.body ?? [])
      text += decoder.decode(chunk as Uint8Array, { stream: true });
  })();
  ended.catch(() => undefined);
  const followed = { headers: response.headers, text: () => text, ended, hangUp: () => hangUp.abort() };
  open.push(followed);
  return followed;
};

const messagesOf = (text: string): readonly string[] =>
  [...text.matchAll(/"message":"([^"]*)"/g)].map((match) => match[1] ?? '');

const guest = { version: '1', capabilities: [] };

describe('GET logs', () => {
  it('passes every filter to the host of the agent', async () => {
    entries.push(entry('one'), entry('two'));
    const query = 'limit=1&level=warn&since=2026-11-21T11:00:00%2B01:00&source=build';
    const { body } = await test.call('GET', `/api/agents/${newId('agt')}/logs?${query}`, {
      key: test.services.key(['read']),
    });
    expect(body).toEqual({ logs: [entry('two')], nextCursor: '2' });
    expect(test.services.requestsTo(runtimeRequests.logs)[0]?.payload).toMatchObject({
      limit: 1,
      level: 'warn',
      since: '2026-11-21T10:00:00.000Z',
      source: 'build',
      cursor: null,
      waitMs: 0,
    });
  });

  it('continues after a cursor', async () => {
    entries.push(entry('one'), entry('two'), entry('three'));
    const { body } = await test.call('GET', `/api/agents/${newId('agt')}/logs?cursor=1&limit=1`, {
      key: test.services.key(),
    });
    expect(body).toEqual({ logs: [entry('two')], nextCursor: '2' });
  });

  it('is empty before the agent is placed, and if its host has no logs of it', async () => {
    test.services.on(runtimeRequests.logs, () => {
      throw new DomainError('not_found', 'agent_not_on_host', 'no');
    });
    const path = `/api/agents/${newId('agt')}/logs`;
    expect((await test.call('GET', path, { key: test.services.key() })).body).toEqual({
      logs: [],
      nextCursor: null,
    });
    test.services.on(agentsRequests.locate, () => ({ host: null, guest }));
    expect((await test.call('GET', path, { key: test.services.key() })).body).toEqual({
      logs: [],
      nextCursor: null,
    });
  });

  it.each(['limit=1001', 'level=fatal', 'since=yesterday', 'source=me', 'follow=yes'])(
    'refuses %s',
    async (query) => {
      const agent = anAgent();
      test.services.agents.set(agent.id, agent);
      const { status, body } = await test.call('GET', `/api/agents/${agent.id}/logs?${query}`, {
        key: test.services.key(),
      });
      expect([status, body.detail?.fields?.[0]?.path]).toEqual([400, query.split('=')[0]]);
    },
  );
});

describe('following logs', () => {
  it('sends existing and new entries, each once, with cursors as event ids', async () => {
    entries.push(entry('old 1'), entry('old 2'));
    const followed = await follow(test.services.key());
    expect(followed.headers.get('content-type')).toContain('text/event-stream');
    expect(followed.headers.get('x-request-id')).toMatch(/^req_/);
    expect(followed.headers.get('x-content-type-options')).toBe('nosniff');
    expect(followed.headers.get('connection')).toBe('close');
    await eventually(() => messagesOf(followed.text()).length === 2);
    for (const word of ['new 1', 'new 2', 'new 3']) {
      entries.push(entry(word));
      await eventually(() => messagesOf(followed.text()).at(-1) === word);
    }
    expect(messagesOf(followed.text())).toEqual(['old 1', 'old 2', 'new 1', 'new 2', 'new 3']);
    expect(followed.text()).toContain(`event: log\nid: 3\ndata: ${JSON.stringify(entry('new 1'))}\n\n`);
  });

  it('continues where a client was disconnected', async () => {
    entries.push(entry('seen'), entry('missed'));
    const followed = await follow(test.services.key(), { lastEventId: '1', query: '&cursor=0' });
    await eventually(() => messagesOf(followed.text()).length === 1);
    expect(messagesOf(followed.text())).toEqual(['missed']);
  });

  it('survives an unavailable host, and an agent that is not placed yet', async () => {
    test.services.on(agentsRequests.locate, () => ({ host: null, guest }));
    const followed = await follow(test.services.key());
    test.services.on(agentsRequests.locate, () => ({ host: 'elsewhere', guest }));
    await eventually(() => test.services.requestsTo(agentsRequests.locate).length >= 3, {
      timeoutMs: 10_000,
    });
    test.services.on(agentsRequests.locate, () => ({ host: 'host1', guest }));
    entries.push(entry('at last'));
    await eventually(() => messagesOf(followed.text()).length === 1);
  });

  it('ends within 5 s of a revocation, with the reason', async () => {
    const key = test.services.key();
    const followed = await follow(key);
    test.services.revoke(key);
    const revokedAt = performance.now();
    await followed.ended;
    expect(performance.now() - revokedAt).toBeLessThan(5_000);
    expect(followed.text()).toContain('event: end\ndata: {"code":"unauthenticated"');
  });

  it('continues while the key cannot be looked up', async () => {
    const followed = await follow(test.services.key());
    const before = test.services.requestsTo(accountsRequests.authenticate).length;
    test.services.on(accountsRequests.authenticate, () => new Promise(() => undefined));
    await eventually(() => test.services.requestsTo(accountsRequests.authenticate).length >= before + 2, {
      timeoutMs: 10_000,
    });
    expect(followed.text()).not.toContain('event: end');
    followed.hangUp();
  });

  it('ends when the agent is gone', async () => {
    const followed = await follow(test.services.key());
    test.services.on(agentsRequests.locate, () => {
      throw new DomainError('not_found', 'agent_not_found', 'Gone.');
    });
    await followed.ended;
    expect(followed.text()).toContain('event: end\ndata: {"code":"agent_not_found","message":"Gone."}');
  });

  it('sends no more requests once the client is gone', async () => {
    const followed = await follow(test.services.key());
    await eventually(() => test.services.received.some(({ payload }) => payload['waitMs'] === 10_000));
    followed.hangUp();
    let heard = -1;
    await eventually(
      () => {
        const before = heard;
        heard = test.services.received.length;
        return before === heard;
      },
      { timeoutMs: 15_000, intervalMs: 1_500 },
    );
  });

  it('costs one request at a time for any number of readers at the end of the same log', async () => {
    // A reader that is late may still read at the position before.
    const asking = new Map<string | null, number>();
    let most = 0;
    test.services.on(runtimeRequests.logs, async (query) => {
      if (query.waitMs === 0) return readEntries(query);
      const now = (asking.get(query.cursor) ?? 0) + 1;
      asking.set(query.cursor, now);
      most = Math.max(most, now);
      return readEntries(query).finally(() => asking.set(query.cursor, (asking.get(query.cursor) ?? 0) - 1));
    });
    const [key, agentId] = [test.services.key(), newId('agt')];
    const followed = await Promise.all(Array.from({ length: 50 }, () => follow(key, { agentId })));
    for (const word of ['one', 'two', 'three']) {
      entries.push(entry(word));
      await eventually(() => followed.every(({ text }) => messagesOf(text()).at(-1) === word));
    }
    expect(followed.map(({ text }) => messagesOf(text()))).toEqual(
      followed.map(() => ['one', 'two', 'three']),
    );
    expect(most).toBe(1);
  });

  it('sends separate requests for each account, even for the same agent', async () => {
    const agentId = newId('agt');
    await follow(test.services.key(), { agentId });
    await follow(test.services.key(), { agentId });
    // The second request of each begins when its first, which waits for entries, has ended.
    await eventually(
      () => {
        const located = test.services
          .requestsTo(agentsRequests.locate)
          .map(({ payload }) => payload['accountId']);
        return new Set(located).size === 2 && located.length >= 4;
      },
      { timeoutMs: 30_000 },
    );
  });

  it('is 429 beyond the limit of one key, until one of its streams closes', async () => {
    const [key, agentId] = [test.services.key(), newId('agt')];
    const followed = await Promise.all(
      Array.from({ length: MAX_FOLLOWED_STREAMS }, () => follow(key, { agentId })),
    );
    const path = `/api/agents/${agentId}/logs?follow=true`;
    const { status, headers, body } = await test.call('GET', path, { key });
    expect([status, body.detail?.code, headers.get('retry-after')]).toEqual([429, 'rate_limited', '5']);
    expect((await follow(test.services.key(), { agentId })).headers.get('content-type')).toContain(
      'event-stream',
    );
    followed[0]?.hangUp();
    await eventually(async () => {
      const again = await follow(key, { agentId });
      return again.headers.get('content-type')?.includes('event-stream') === true;
    });
  });

  it('is refused with a status before it begins', async () => {
    test.services.on(agentsRequests.locate, () => {
      throw new DomainError('not_found', 'agent_not_found', 'Gone.');
    });
    const { status, headers } = await test.call('GET', `/api/agents/${newId('agt')}/logs?follow=true`, {
      key: test.services.key(),
    });
    expect([status, headers.get('content-type')]).toEqual([404, 'application/json; charset=utf-8']);
  });

  it('ends immediately when the gateway stops', async () => {
    const gateway = await startGateway(test.config, silent);
    const followed = await follow(test.services.key(), { url: gateway.url });
    const since = performance.now();
    await Promise.all([gateway.stop(), followed.ended]);
    expect(performance.now() - since).toBeLessThan(2_500);
  });
});
