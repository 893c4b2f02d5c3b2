import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { atOnce, broken, ok, refusal, rejection, TestServer, type Answer } from './server.fixture.js';

let server: TestServer;
beforeAll(async () => (server = await TestServer.start()));
afterEach(() => server.reset());
afterAll(() => server.close());

const entry = (message: string): string => JSON.stringify({ message, level: 'info' });
const event = (message: string, id?: string): string =>
  `event: log\n${id === undefined ? '' : `id: ${id}\n`}data: ${entry(message)}\n\n`;

/** Sends events, then ends, breaks or waits. */
const streams =
  (text: string, after: (response: ServerResponse) => unknown = () => undefined): Answer =>
  (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(text, () => void setImmediate(() => after(response)));
  };
const ends = (response: ServerResponse): unknown => response.end();
const breaks = (response: ServerResponse): unknown => response.destroy();

/** The messages until there are so many. */
const messages = async (stream: AsyncIterable<{ message: string }>, count = Infinity): Promise<string[]> => {
  const all: string[] = [];
  for await (const { message } of stream) if (all.push(message) === count) break;
  return all;
};

describe('followed logs', () => {
  it('iterate over the entries, and connect again with Last-Event-ID where they broke', async () => {
    server.answers(
      streams(`: beat\n\n${event('one')}${event('two', 'cur/2')}`, breaks),
      atOnce(503),
      broken,
      streams(`${event('three', '3')}event: end\ndata: {"code": "x"}\n\n`, ends),
      streams(event('four', '4')),
    );
    const followed = server.client().agents.followLogs('a', { level: 'warn', limit: 5, cursor: 'c' });
    expect(await messages(followed, 4)).toEqual(['one', 'two', 'three', 'four']);
    expect(server.received.map(({ headers }) => headers['last-event-id'])).toEqual([
      undefined,
      'cur/2',
      'cur/2',
      'cur/2',
      '3',
    ]);
    for (const { query, headers } of server.received) {
      expect(Object.fromEntries(query)).toEqual({ level: 'warn', limit: '5', cursor: 'c', follow: 'true' });
      expect(headers.accept).toBe('text/event-stream');
    }
  });

  it.each([400, 401, 403, 404])('throw a %i, at first and later', async (status) => {
    const refused = refusal(status, { code: 'x', message: 'No.' });
    server.answers(refused);
    expect(await rejection(messages(server.client().agents.followLogs('a')))).toMatchObject({ status });
    server.answers(streams(event('one', '1'), ends), refused);
    expect(await rejection(messages(server.client().agents.followLogs('a')))).toMatchObject({ status });
  });

  it('throw if the service cannot be reached at first, and if the answer is no stream', async () => {
    server.answers(broken);
    const once = server.client({ maxRetries: 0 });
    expect(await rejection(messages(once.agents.followLogs('a')))).toMatchObject({
      code: 'connection_failed',
    });
    server.answers(ok({ logs: [] }));
    expect(await rejection(messages(once.agents.followLogs('a')))).toMatchObject({
      code: 'invalid_response',
    });
  });

  it('end quietly with close, with the signal, and with a signal that is aborted', async () => {
    server.answer = streams(event('one', '1'));
    const closed = server.client().agents.followLogs('a');
    const controller = new AbortController();
    const aborted = server.client().agents.followLogs('a', {}, { signal: controller.signal });
    const read = [messages(closed), messages(aborted)];
    while (server.received.length < 2) await new Promise(setImmediate);
    closed.close();
    controller.abort(new Error('enough'));
    const all = await Promise.all(read);
    expect(all.flat().every((message) => message === 'one')).toBe(true);
    const { signal } = controller;
    expect(await messages(server.client().agents.followLogs('a', {}, { signal }))).toEqual([]);
    expect(server.received).toHaveLength(2);
  });

  it('end quietly with close while they wait to connect again', async () => {
    server.answers(streams(event('one', '1'), breaks));
    const followed = server.client().agents.followLogs('a');
    const seen: string[] = [];
    for await (const { message } of followed) {
      seen.push(message);
      setImmediate(() => setImmediate(() => followed.close()));
    }
    expect(seen).toEqual(['one']);
  });

  it('close their connection when they are left', async () => {
    server.answer = streams(event('one', '1'));
    const connected = new Promise<void>((resolve) => {
      server.onRequest = (_, response) => void once(response, 'close').then(() => resolve());
    });
    expect(await messages(server.client().agents.followLogs('a'), 1)).toEqual(['one']);
    await connected;
  });

  it('connect again after a silence', async () => {
    server.answers(streams(event('one', '1')), streams(event('two', '2')));
    const followed = server.client().agents.followLogs('a', {}, { timeout: 100 });
    expect(await messages(followed, 2)).toEqual(['one', 'two']);
  });
});
