import { once } from 'node:events';
import { createServer, get, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { CHAT } from '../fixtures/models.fixture.js';
import { CallerResponse } from './caller-response.js';
import { passResponse, type Passed } from './pass-response.js';

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

const served = async (listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(0, '127.0.0.1');
  servers.push(server);
  await once(server, 'listening');
  return `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
};

/** Passes a stream with these pieces on; returns what arrives and how it ended. */
const passed = async (pieces: readonly string[], hidesUsage: boolean) => {
  const upstream = await served((_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const write = (at: number): void => {
      if (at === pieces.length) response.end();
      else response.write(pieces[at], () => setImmediate(() => write(at + 1)));
    };
    write(0);
  });
  const done = Promise.withResolvers<Passed>();
  const front = await served((_, response) => {
    get(upstream, (from) => {
      const to = new CallerResponse(response);
      passResponse(from, to, { operation: CHAT, hidesUsage }).then((end) => {
        to.end();
        done.resolve(end);
      }, done.reject);
    });
  });
  const [received] = (await once(get(front), 'response')) as [NodeJS.ReadableStream];
  return { arrived: await text(received), end: await done.promise };
};

const event = (body: object): string => `data: ${JSON.stringify(body)}\n\n`;
const WORD = event({ choices: [{ delta: { content: 'usage, naïve' } }], usage: null });
const PLAIN = event({ choices: [{ delta: { content: 'hi' } }] });
const USAGE = event({ choices: [], usage: { prompt_tokens: 9, completion_tokens: 4 } });
const DONE = 'data: [DONE]\n\n';
const SETTLED = { kind: 'known', tokens: { input: 9, output: 4 } };

describe('a stream that is passed on', () => {
  it.each([
    ['in one piece', [PLAIN + PLAIN + WORD + USAGE + PLAIN + DONE]],
    ['event by event', [PLAIN, PLAIN, WORD, USAGE, PLAIN, DONE]],
    [
      'cut within the usage',
      [`${PLAIN}${PLAIN}${WORD}${USAGE.slice(0, 12)}`, `${USAGE.slice(12)}${PLAIN}${DONE}`],
    ],
  ])('keeps only the chunk with the usage from a caller who did not ask for it: %s', async (_, pieces) => {
    const { arrived, end } = await passed(pieces, true);
    expect(arrived).toBe(PLAIN + PLAIN + WORD + PLAIN + DONE);
    expect(end).toMatchObject({ outcome: SETTLED, isComplete: true });
  });

  it('arrives byte for byte if the caller asked for the usage, its last event without a blank line included', async () => {
    const whole = PLAIN + WORD + USAGE + 'data: [DONE]';
    const { arrived, end } = await passed([whole.slice(0, 50), whole.slice(50)], false);
    expect(arrived).toBe(whole);
    expect(end.outcome).toMatchObject(SETTLED);
  });
});
