import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ServiceConnectionError, ServiceError, type ChatEvent } from './index.js';
import { broken, json, ok, refusal, rejection, TestServer, type Answer } from './server.fixture.js';

let server: TestServer;
beforeAll(async () => (server = await TestServer.start()));
afterEach(() => server.reset());
afterAll(() => server.close());

const FAILURES = [
  [409, 'agent_deploying'],
  [409, 'agent_stopped'],
  [409, 'agent_failed'],
  [502, 'agent_error'],
  [503, 'agent_unavailable'],
  [504, 'agent_timeout'],
] as const;
const proxy: Answer = (_, response) => response.writeHead(502).end('<html>Bad gateway');

const events = async (stream: AsyncIterable<ChatEvent>): Promise<ChatEvent[]> => {
  const all: ChatEvent[] = [];
  for await (const event of stream) all.push(event);
  return all;
};

describe('a chat', () => {
  it('returns the response and the conversation', async () => {
    server.answer = ok({ response: 'Hello', conversation_id: 'c-2' });
    const result = await server.client().agents.chat('a', 'hi', { conversationId: 'c-1' });
    expect(result).toEqual({ response: 'Hello', conversationId: 'c-2' });
    expect(JSON.parse(String(server.received[0]?.body))).toEqual({ message: 'hi', conversation_id: 'c-1' });
    await server.client().agents.chat('a', '');
    expect(JSON.parse(String(server.received[1]?.body))).toEqual({ message: '' });
  });

  it.each(FAILURES)('returns the failure to deliver %i %s in `error`', async (status, code) => {
    server.answer = refusal(
      status,
      { code, message: 'Why.', mayHaveBeenDone: true },
      { 'x-request-id': 'r' },
    );
    const berth = server.client();
    expect(await berth.agents.chat('a', 'hi', { conversationId: 'c' })).toEqual({
      response: '',
      conversationId: 'c',
      error: { code, message: 'Why.', mayHaveBeenDone: true, status, requestId: 'r' },
    });
    expect((await berth.agents.chat('a', 'hi')).conversationId).toBeNull();
    expect(await events(berth.agents.chatStream('a', 'hi'))).toMatchObject([
      { type: 'error', error: { code, status } },
    ]);
    expect(server.received).toHaveLength(3);
  });

  it('throws everything else, also the page of a proxy', async () => {
    const once = server.client({ maxRetries: 0 });
    for (const [answer, status] of [
      [refusal(402, { code: 'spend_cap_reached', message: 'No.' }), 402],
      [refusal(404, { code: 'agent_not_found', message: 'No.' }), 404],
      [refusal(503, { code: 'service_unavailable', message: 'No.' }), 503],
      [refusal(502, 'agent_error'), 502],
      [proxy, 502],
      [broken, undefined],
    ] as const) {
      server.answer = answer;
      expect(await rejection(once.agents.chat('a', 'hi'))).toMatchObject({ status });
      expect(await rejection(events(once.agents.chatStream('a', 'hi')))).toBeInstanceOf(ServiceError);
    }
  });
});

describe('a streamed chat', () => {
  const streams =
    (pieces: readonly (string | Buffer)[], end = true): Answer =>
    (_, response) => {
      response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8', 'x-request-id': 'r' });
      const write = (index: number): void => {
        const piece = pieces[index];
        if (piece !== undefined) response.write(piece, () => setImmediate(write, index + 1));
        else if (end) response.end();
        else response.destroy();
      };
      write(0);
    };

  it('iterates over what comes, wherever it is cut, and asks for a stream', async () => {
    const text = Buffer.from(
      ': beat\r\n\r\nevent: delta\ndata: {"text": "Grüße "}\n\nevent:delta\r\ndata:{"text":\r\ndata: "😀"}\r\n\r\n' +
        'event: new\ndata: {}\n\nevent: done\ndata: {"response": "Grüße 😀", "conversation_id": "c"}\n\n',
    );
    const expected = [
      { type: 'delta', text: 'Grüße ' },
      { type: 'delta', text: '😀' },
      { type: 'done', response: 'Grüße 😀', conversationId: 'c' },
    ];
    server.answer = streams([...text].map((byte) => Buffer.from([byte])));
    expect(await events(server.client().agents.chatStream('a', 'hi'))).toEqual(expected);
    server.answer = streams([text]);
    expect(await events(server.client().agents.chatStream('a', 'hi', { conversationId: 'c' }))).toEqual(
      expected,
    );
    expect(server.received[1]).toMatchObject({ headers: { accept: 'text/event-stream' } });
    expect(JSON.parse(String(server.received[1]?.body))).toEqual({ message: 'hi', conversation_id: 'c' });
  });

  it('ends with the failure that the service tells', async () => {
    server.answer = streams([
      'event: error\ndata: {"detail": {"code": "agent_error", "message": "It fell."}}\n\n',
    ]);
    expect(await events(server.client().agents.chatStream('a', 'hi'))).toEqual([
      { type: 'error', error: { code: 'agent_error', message: 'It fell.', status: 502, requestId: 'r' } },
    ]);
  });

  it('is one `done` if the answer is JSON', async () => {
    server.answer = ok({ response: 'All', conversation_id: 'c' });
    expect(await events(server.client().agents.chatStream('a', 'hi'))).toEqual([
      { type: 'done', response: 'All', conversationId: 'c' },
    ]);
  });

  it.each([true, false])(
    'throws if it ends before it is done, and is not sent again (ended: %s)',
    async (end) => {
      server.answer = streams(['event: delta\ndata: {"text": "a"}\n\n'], end);
      const seen: ChatEvent[] = [];
      const all = async (): Promise<void> => {
        for await (const event of server.client().agents.chatStream('a', 'hi')) seen.push(event);
      };
      expect(await rejection(all())).toBeInstanceOf(ServiceConnectionError);
      expect(seen).toEqual([{ type: 'delta', text: 'a' }]);
      expect(server.received).toHaveLength(1);
    },
  );

  it('throws after a silence, and closes the connection when it is left', async () => {
    server.answer = (_, response) => {
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write('event: delta\ndata: {"text": "a"}\n\n');
    };
    const all = events(server.client().agents.chatStream('a', 'hi', {}, { timeout: 100 }));
    expect(await rejection(all)).toMatchObject({ code: 'timeout' });
    let closed: (() => void) | undefined;
    const left = new Promise<void>((resolve) => (closed = resolve));
    server.onRequest = (request) =>
      request.once('close', () => undefined).socket.once('close', () => closed?.());
    for await (const event of server.client().agents.chatStream('a', 'hi')) {
      expect(event.type).toBe('delta');
      break;
    }
    await left;
  });

  it('ends at once with the reason of its signal', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    server.answer = (_, response) => {
      response
        .writeHead(200, { 'content-type': 'text/event-stream' })
        .write('event: delta\ndata: {"text": "a"}\n\n');
    };
    const all = async (): Promise<void> => {
      const { signal } = controller;
      for await (const event of server.client().agents.chatStream('a', 'hi', {}, { signal }))
        if (event.type === 'delta') setImmediate(() => controller.abort(reason));
    };
    expect(await rejection(all())).toBe(reason);
  });
});

describe('an invoke of a webhook', () => {
  it('sends an object as JSON, text as text/plain and bytes as they are, with its token and without the key', async () => {
    server.answer = (_, response) => json(response, 202, { accepted: true });
    const { webhooks } = server.client({ headers: { authorization: 'Bearer other' } });
    const bytes = Uint8Array.of(0, 255);
    for (const body of [{ message: 'hi' }, [1], 'hé', bytes, new Blob([bytes]), null, undefined])
      await webhooks.invoke('a', body, { token: 'wh_1' });
    expect(
      server.received.map(({ headers, body }) => [headers['content-type'], body.toString('latin1')]),
    ).toEqual([
      ['application/json', '{"message":"hi"}'],
      ['application/json', '[1]'],
      ['text/plain;charset=utf-8', Buffer.from('hé').toString('latin1')],
      ['application/octet-stream', '\0\xff'],
      ['application/octet-stream', '\0\xff'],
      ['application/json', 'null'],
      [undefined, ''],
    ]);
    for (const { headers, target } of server.received) {
      expect(headers).toMatchObject({ 'x-service-webhook-token': 'wh_1' });
      expect(headers.authorization).toBeUndefined();
      expect(target).toBe('/api/webhooks/a');
    }
  });
});
