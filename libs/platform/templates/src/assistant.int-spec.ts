import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, freePort } from '@berth/testing';
import { FakeUpstream, UPSTREAM_KEY } from '@berth/testing/upstream';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

const PROGRAM = join(import.meta.dirname, '../../../../infra/templates/assistant/agent.bundle.mjs');
const DIALECTS = [
  ['openai', 'upstream-model'],
  ['anthropic', 'upstream-claude'],
] as const;

let upstream: FakeUpstream;
let volume: string;
let program: ChildProcess | undefined;
let url: string;

beforeAll(async () => {
  upstream = await FakeUpstream.start();
});
afterAll(() => upstream.stop());
beforeEach(() => {
  volume = mkdtempSync(join(tmpdir(), 'berth-assistant-'));
});
afterEach(async () => {
  await stop();
  rmSync(volume, { recursive: true, force: true });
});

const start = async (variables: Readonly<Record<string, string>> = {}): Promise<void> => {
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  program = spawn(process.execPath, [PROGRAM], {
    env: {
      PATH: process.env['PATH'],
      PORT: String(port),
      BERTH_VOLUME: volume,
      BERTH_AGENT_TOKEN: 'token-of-the-agent',
      OPENAI_BASE_URL: `${upstream.url}/v1`,
      OPENAI_API_KEY: UPSTREAM_KEY,
      ANTHROPIC_BASE_URL: upstream.url,
      ANTHROPIC_API_KEY: UPSTREAM_KEY,
      ...variables,
    },
    stdio: 'ignore',
  });
  await eventually(async () => expect((await fetch(`${url}/health`)).ok).toBe(true));
};

const stop = async (): Promise<void> => {
  if (program === undefined) return;
  const ended = once(program, 'exit');
  program.kill('SIGTERM');
  await ended;
  program = undefined;
};

const chat = async (message: string, more: object = {}): Promise<Record<string, unknown>> => {
  const body = JSON.stringify({ message, conversation_id: 'one', ...more });
  const response = await fetch(`${url}/chat`, { method: 'POST', body });
  return (await response.json()) as Record<string, unknown>;
};

/** The last request for a model, as text. */
const lastRequest = (): string => JSON.stringify(upstream.requests.at(-1)?.body);

describe.each(DIALECTS)('the assistant on a model of the dialect %s', (_dialect, model) => {
  it('runs commands, writes files and reads them', async () => {
    await start({ MODEL: model });
    expect(await chat('use write_file {"path":"notes/a.txt","content":"remember the milk"}')).toMatchObject({
      response: expect.stringContaining('Wrote') as string,
    });
    expect(readFileSync(join(volume, 'notes/a.txt'), 'utf8')).toBe('remember the milk');
    const read = await chat('use read_file {"path":"notes/a.txt"}');
    expect(read['response']).toContain('remember the milk');
    const ran = await chat('use shell {"command":"cat notes/a.txt; exit 3"}');
    expect(ran['response']).toMatch(/"exitCode":3.*remember the milk/);
  });

  it('remembers a conversation after a restart, and does not show it in another one', async () => {
    await start({ MODEL: model });
    await chat('my dog is called Rex');
    await chat('use shell {"command":"echo tool-result"}');
    await stop();
    await start({ MODEL: model });
    expect(await chat('hello again')).toEqual({ response: 'echo: hello again' });
    expect(lastRequest()).toMatch(/my dog is called Rex.*tool-result.*hello again/);
    await chat('a stranger', { conversation_id: 'two' });
    expect(lastRequest()).not.toContain('Rex');
  });
});

describe('the assistant', () => {
  it('says how to configure a model when there is none', async () => {
    await start();
    expect((await chat('hello'))['response']).toMatch(/No model is configured.*berth\.yaml.*defaultModel/s);
  });

  it('gives its instructions to the model', async () => {
    await start({ MODEL: 'upstream-model', BERTH_INSTRUCTIONS: 'Speak like a pirate.' });
    await chat('hello');
    expect(lastRequest()).toContain('Speak like a pirate.');
  });

  it('tells the model of attached files', async () => {
    await start({ MODEL: 'upstream-model' });
    await chat('look', { attachments: [{ path: '/volume/inbox/a.png', name: 'a.png', size: 3 }] });
    expect(lastRequest()).toContain('/volume/inbox/a.png');
  });

  it('does not pass its credentials to the commands of the model', async () => {
    await start({ MODEL: 'upstream-model' });
    const { response } = await chat('use shell {"command":"env"}');
    expect(response).toContain('BERTH_VOLUME');
    expect(response).not.toMatch(/token-of-the-agent|upstream-key/);
  });

  it('returns the error of the model, and forgets the failed turn', async () => {
    await start({ MODEL: 'upstream-model' });
    upstream.on('upstream-model', { status: 403 });
    expect(await chat('lost')).toEqual({ error: 'The upstream fails.' });
    upstream.on('upstream-model', {});
    expect(await chat('hello')).toEqual({ response: 'echo: hello' });
    expect(lastRequest()).not.toContain('lost');
  });
});
