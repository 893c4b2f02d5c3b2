import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  decodeLogLine,
  GUEST_ROUTES,
  type GuestRoute,
  type LogLine,
  type PutProgram,
} from '@berth/guest-protocol';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startGuest, type RunningGuest } from './start-guest.js';

/** A program that does as it is told in the message of a chat. */
const PROGRAM = `
  import { createServer } from 'node:http';
  import { appendFileSync, existsSync, rmSync } from 'node:fs';
  const seen = (text) => appendFileSync(process.env.BERTH_VOLUME + '/seen', text + '\\n');
  let busy = 0;
  const server = createServer(async (request, response) => {
    if (request.url === '/health') return response.end('ok');
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const { message, conversation_id } = JSON.parse(Buffer.concat(chunks));
    seen(message);
    const say = (body, status = 200) => { response.statusCode = status; response.end(typeof body === 'string' ? body : JSON.stringify(body)); };
    if (message === 'die') process.exit(7);
    if (message === 'fail') return say({ error: { message: 'the model is out of words' } }, 500);
    if (message === 'fail long') return say('x'.repeat(5000), 500);
    if (message === 'garbage') return say('<html>');
    if (message === 'no text') return say({ response: 5 });
    if (message === 'huge') return say({ response: 'x'.repeat(1100000) });
    if (message === 'env') return say({ response: JSON.stringify(process.env) });
    if (message.startsWith('hold')) { while (!existsSync(process.env.BERTH_VOLUME + '/go')) await new Promise((go) => setTimeout(go, 10)); }
    if (message.startsWith('lane')) { busy += 1; const now = busy; await new Promise((go) => setTimeout(go, 30)); busy -= 1; return say({ response: conversation_id + ':' + now }); }
    say({ response: 'heard ' + message });
  });
  server.listen(process.env.PORT, '127.0.0.1');
  console.log(JSON.stringify({ level: 'warn', msg: 'up' }));
  console.error('to stderr');
`;

interface Reply {
  readonly status: number;
  readonly body: Record<string, unknown> & {
    error?: { kind: string; code: string; message: string; context: object };
  };
}

describe('a guest', () => {
  let dir: string;
  let guest: RunningGuest;

  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'berth-guest-'));
    for (const folder of ['volume', 'logs', 'journal', 'tmp']) mkdirSync(join(dir, folder));
    writeFileSync(join(dir, 'program.mjs'), PROGRAM);
    guest = await open();
  });

  afterEach(async () => {
    await guest.stop(0);
    rmSync(dir, { recursive: true, force: true });
  });

  const open = (generation: 'current' | 'legacy' = 'current'): Promise<RunningGuest> =>
    startGuest(
      { socket: join(dir, 'sock'), logs: join(dir, 'logs'), journal: join(dir, 'journal'), generation },
      'mark-1',
    );

  const ask = (route: GuestRoute, body?: unknown, query = ''): Promise<Reply> => {
    const { promise, resolve, reject } = Promise.withResolvers<Reply>();
    const call = request({
      socketPath: join(dir, 'sock'),
      method: route.method,
      path: route.path + query,
      agent: false,
    });
    call.on('error', reject);
    call.on('response', (response) => {
      let text = '';
      response.on('data', (chunk: Buffer) => (text += chunk.toString()));
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, body: JSON.parse(text) as Reply['body'] }),
      );
    });
    call.end(body === undefined ? undefined : JSON.stringify(body));
    return promise;
  };

  const program = (changes: Partial<PutProgram> = {}): PutProgram => ({
    agentId: 'agt_1',
    command: [process.execPath, 'program.mjs'],
    cwd: dir,
    volume: join(dir, 'volume'),
    tmp: join(dir, 'tmp'),
    path: '/usr/bin:/bin',
    runAs: null,
    env: { GREETING: 'hello', PORT: '1', BERTH_AGENT_ID: 'somebody else' },
    token: 'token-1',
    instructions: 'Be kind.',
    gatewayUrl: null,
    restart: { maxDeaths: 5, windowMs: 60_000, maxEarlyDeaths: 3 },
    readyWithinMs: 10_000,
    ...changes,
  });

  const put = (changes: Partial<PutProgram> = {}): Promise<Reply> =>
    ask(GUEST_ROUTES.program, program(changes));

  const deliver = (
    message: string,
    deliveryId = `dlv_${message}`,
    conversationId = 'cnv_1',
  ): Promise<Reply> => ask(GUEST_ROUTES.deliver, { deliveryId, conversationId, message });

  const seen = (): string[] => {
    try {
      return readFileSync(join(dir, 'volume/seen'), 'utf8').trim().split('\n');
    } catch {
      return [];
    }
  };

  const log = (): LogLine[] =>
    readdirSync(join(dir, 'logs'))
      .toSorted()
      .flatMap((name) => readFileSync(join(dir, 'logs', name), 'utf8').split('\n'))
      .flatMap((line) => decodeLogLine(line) ?? []);

  it('starts the program it is given and delivers a message to it', async () => {
    expect((await ask(GUEST_ROUTES.health)).body).toEqual({
      version: '1.0.0',
      capabilities: ['exec.detached'],
      program: 'none',
    });
    expect((await put()).body).toMatchObject({ program: 'serving' });
    expect(await deliver('hi')).toEqual({ status: 200, body: { response: 'heard hi' } });
  });

  it('of the old generation says so', async () => {
    await guest.stop(0);
    guest = await open('legacy');
    expect((await ask(GUEST_ROUTES.health)).body).toMatchObject({ version: '0.9.0', capabilities: [] });
  });

  it('gives the program its whole environment, which the agent’s own variables cannot forge', async () => {
    await put();
    const env = JSON.parse(String((await deliver('env')).body['response'])) as Record<string, string>;
    expect(env).toMatchObject({
      GREETING: 'hello',
      BERTH_AGENT_ID: 'agt_1',
      BERTH_AGENT_TOKEN: 'token-1',
      BERTH_VOLUME: join(dir, 'volume'),
      BERTH_INSTRUCTIONS: 'Be kind.',
      BERTH_AGENT_MARK: 'mark-1',
      OPENAI_API_KEY: 'token-1',
      ANTHROPIC_API_KEY: 'token-1',
    });
    expect(env['PORT']).not.toBe('1');
    expect(env['OPENAI_BASE_URL']).toBe(`${env['BERTH_API_URL']}/agent/v1/llm/openai/v1`);
    expect(env['ANTHROPIC_BASE_URL']).toBe(`${env['BERTH_API_URL']}/agent/v1/llm/anthropic`);
  });

  it('starts the program anew with another environment', async () => {
    await put();
    await ask(GUEST_ROUTES.env, { env: { GREETING: 'good bye' }, readyWithinMs: 10_000 });
    const env = JSON.parse(String((await deliver('env')).body['response'])) as Record<string, string>;
    expect(env['GREETING']).toBe('good bye');
  });

  it('keeps the messages of one conversation in order and apart, while conversations run side by side', async () => {
    await put();
    const replies = await Promise.all([
      deliver('lane 1', 'dlv_1', 'a'),
      deliver('lane 2', 'dlv_2', 'a'),
      deliver('lane 3', 'dlv_3', 'a'),
    ]);
    expect(replies.map(({ body }) => body['response'])).toEqual(['a:1', 'a:1', 'a:1']);
    expect(seen()).toEqual(['lane 1', 'lane 2', 'lane 3']);
    const apart = await Promise.all([deliver('lane 4', 'dlv_4', 'b'), deliver('lane 5', 'dlv_5', 'c')]);
    expect(apart.map(({ body }) => String(body['response']).slice(2)).toSorted()).toEqual(['1', '2']);
  });

  it('hands a message over once, however often it comes: while it runs, after, and after its own restart', async () => {
    await put();
    const both = [deliver('hold', 'dlv_x'), deliver('hold', 'dlv_x')];
    await vi.waitUntil(() => seen().length === 1);
    writeFileSync(join(dir, 'volume/go'), '');
    expect((await Promise.all(both)).map(({ body }) => body)).toEqual([
      { response: 'heard hold' },
      { response: 'heard hold' },
    ]);
    expect((await deliver('hold', 'dlv_x')).body).toEqual({ response: 'heard hold' });
    await guest.stop(0);
    guest = await open();
    await put();
    expect((await deliver('hold', 'dlv_x')).body).toEqual({ response: 'heard hold' });
    expect(seen()).toEqual(['hold']);
  });

  it('does not hand over again a message whose answer was lost with the guest', async () => {
    await put();
    void deliver('hold', 'dlv_x').catch(() => undefined);
    await vi.waitUntil(() => seen().length === 1);
    const journal = readFileSync(join(dir, 'journal/deliveries.jsonl'));
    await guest.stop(0);
    // What a guest leaves that is killed rather than stopped.
    writeFileSync(join(dir, 'journal/deliveries.jsonl'), journal);
    guest = await open();
    await put();
    expect((await deliver('hold', 'dlv_x')).body.error).toMatchObject({
      code: 'agent_unavailable',
      context: { handedOver: true },
    });
    expect(seen()).toEqual(['hold']);
  });

  it('goes on with a delivery whose caller hung up', async () => {
    await put();
    const call = request({ socketPath: join(dir, 'sock'), method: 'POST', path: '/v1/deliver' });
    call.on('error', () => undefined);
    call.end(JSON.stringify({ deliveryId: 'dlv_x', conversationId: 'c', message: 'hold' }));
    await vi.waitUntil(() => seen().length === 1);
    call.destroy();
    writeFileSync(join(dir, 'volume/go'), '');
    expect((await deliver('hold', 'dlv_x', 'c')).body).toEqual({ response: 'heard hold' });
    expect(seen()).toEqual(['hold']);
  });

  it.each([
    ['fail', 'the model is out of words'],
    ['fail long', 'x'.repeat(2000)],
    ['garbage', 'The answer of the agent is not JSON.'],
    ['no text', 'The answer of the agent has no text "response".'],
    ['huge', 'The answer of the agent is larger than 1 MiB.'],
    ['die', 'The agent stopped while it was answering.'],
  ])(
    'tells an agent’s own failure as agent_error (%s), again for the same delivery',
    async (message, words) => {
      await put();
      for (let round = 0; round < 2; round++) {
        expect((await deliver(message)).body.error).toMatchObject({
          kind: 'upstream',
          code: 'agent_error',
          message: words,
        });
      }
      expect(seen()).toEqual([message]);
    },
  );

  it('starts a program again that died, and delivers to its next life', async () => {
    await put();
    await deliver('die');
    expect((await deliver('hi')).body).toEqual({ response: 'heard hi' });
    expect(
      log()
        .filter(({ source }) => source === 'system')
        .map(({ message }) => message),
    ).toContain("The agent's program exited with code 7.");
  });

  it('gives up a program that keeps dying, and says so at once', async () => {
    await put({ restart: { maxDeaths: 2, windowMs: 60_000, maxEarlyDeaths: 3 } });
    const told = ask(GUEST_ROUTES.events, undefined, '?after=0&waitMs=20000');
    await deliver('die', 'dlv_1');
    await deliver('die', 'dlv_2');
    expect((await told).body).toMatchObject({
      last: 1,
      events: [
        {
          seq: 1,
          type: 'crash_loop',
          message: "The agent's program keeps dying; at last it exited with code 7.",
        },
      ],
    });
    expect((await deliver('hi')).body.error).toMatchObject({
      code: 'agent_unavailable',
      context: { handedOver: false },
    });
    expect((await ask(GUEST_ROUTES.health)).body['program']).toBe('crash_loop');
  });

  it.each([
    ['exits', [process.execPath, '-e', 'process.exit(3)'], /exited with code 3/],
    ['is not there', ['no-such-program'], /could not be started \(ENOENT\)/],
  ] as const)('fails the start of a program that %s before it ever served', async (_, command, words) => {
    const { error } = (await put({ command })).body;
    expect(error).toMatchObject({ kind: 'upstream', code: 'agent_start_failed' });
    expect(error?.message).toMatch(words);
  });

  it('fails the start of a program that never listens', async () => {
    const { error } = (
      await put({ command: [process.execPath, '-e', 'setInterval(() => 0, 1e6)'], readyWithinMs: 300 })
    ).body;
    expect(error).toMatchObject({
      code: 'agent_start_failed',
      message: expect.stringContaining('within 0.3 s') as string,
    });
  });

  it('without a program serves everything but chat', async () => {
    expect((await put({ command: null })).body).toMatchObject({ program: 'none' });
    expect((await deliver('hi')).body.error).toMatchObject({ kind: 'unsupported', code: 'chat_unsupported' });
  });

  it('logs what the program prints, with its level, and never a secret of its environment', async () => {
    await put({ env: { SECRET: 'hush-hush' } });
    await deliver('hi');
    await vi.waitUntil(() => log().length >= 2);
    const lines = log().map(({ level, source, message }) => ({ level, source, message }));
    expect(lines).toContainEqual({ level: 'warn', source: 'agent', message: 'up' });
    expect(lines).toContainEqual({ level: 'error', source: 'agent', message: 'to stderr' });
    expect(JSON.stringify(log())).not.toMatch(/hush-hush|token-1/);
  });

  it('ends by itself when its socket is taken away', async () => {
    await put();
    rmSync(join(dir, 'sock'));
    await guest.ended;
  });
});
