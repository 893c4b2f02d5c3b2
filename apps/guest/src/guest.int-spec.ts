import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { GUEST_LIMITS, GUEST_ROUTES } from '@berth/guest-protocol';
import { eventually, sendBodyLate } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GuestFixture } from './__fixtures__/guest.fixture.js';

describe('a guest', () => {
  let guest: GuestFixture;

  beforeEach(async () => {
    guest = await GuestFixture.open();
  });

  afterEach(() => guest.destroy());

  it('starts the program it is given and delivers a message to it', async () => {
    expect((await guest.ask(GUEST_ROUTES.health)).body).toEqual({
      version: '1.1.0',
      capabilities: ['exec.detached', 'console'],
      program: 'none',
    });
    expect((await guest.put()).body).toMatchObject({ program: 'serving' });
    expect(await guest.deliver('hi')).toEqual({ status: 200, body: { response: 'heard hi' } });
  });

  it('of the old generation reports its generation', async () => {
    await guest.restart('legacy');
    expect((await guest.ask(GUEST_ROUTES.health)).body).toMatchObject({ version: '0.9.0', capabilities: [] });
  });

  it('gives the program its whole environment, and the agent’s own variables cannot override Berth’s', async () => {
    await guest.put();
    const env = JSON.parse(String((await guest.deliver('env')).body['response'])) as Record<string, string>;
    expect(env).toMatchObject({
      GREETING: 'hello',
      BERTH_AGENT_ID: 'agt_1',
      BERTH_AGENT_TOKEN: 'token-1',
      BERTH_VOLUME: join(guest.dir, 'volume'),
      BERTH_INSTRUCTIONS: 'Be kind.',
      BERTH_AGENT_MARK: 'mark-1',
      OPENAI_API_KEY: 'token-1',
      ANTHROPIC_API_KEY: 'token-1',
    });
    expect(env['PORT']).not.toBe('1');
    expect(env['OPENAI_BASE_URL']).toBe(`${env['BERTH_API_URL']}/agent/v1/llm/openai/v1`);
    expect(env['ANTHROPIC_BASE_URL']).toBe(`${env['BERTH_API_URL']}/agent/v1/llm/anthropic`);
  });

  it('restarts the program with a new environment', async () => {
    await guest.put();
    await guest.ask(GUEST_ROUTES.env, { env: { GREETING: 'good bye' }, readyWithinMs: 10_000 });
    const env = JSON.parse(String((await guest.deliver('env')).body['response'])) as Record<string, string>;
    expect(env['GREETING']).toBe('good bye');
  });

  it('restarts a crashed program and delivers to the new process', async () => {
    await guest.put();
    await guest.deliver('die');
    expect((await guest.deliver('hi')).body).toEqual({ response: 'heard hi' });
    expect(
      guest
        .log()
        .filter(({ source }) => source === 'system')
        .map(({ message }) => message),
    ).toContain("The agent's program exited with code 7.");
  });

  it('gives up on a program that keeps crashing, and reports it at once', async () => {
    await guest.put({ restart: { maxDeaths: 2, windowMs: 60_000, maxEarlyDeaths: 3 } });
    const crashLoop = guest.ask(GUEST_ROUTES.events, undefined, '?after=0&waitMs=20000');
    await guest.deliver('die', 'dlv_1');
    await guest.deliver('die', 'dlv_2');
    expect((await crashLoop).body).toMatchObject({
      last: 1,
      events: [
        {
          seq: 1,
          type: 'crash_loop',
          message: "The agent's program keeps crashing; the last time it exited with code 7.",
        },
      ],
    });
    expect((await guest.deliver('hi')).body.error).toMatchObject({
      code: 'agent_unavailable',
      context: {},
    });
    expect((await guest.ask(GUEST_ROUTES.health)).body['program']).toBe('crash_loop');
  });

  it.each([
    ['exits', [process.execPath, '-e', 'process.exit(3)'], /exited with code 3/],
    ['is missing', ['no-such-program'], /could not be started \(ENOENT\)/],
  ] as const)('fails the start of a program that %s before it is ready', async (_, command, words) => {
    const { error } = (await guest.put({ command })).body;
    expect(error).toMatchObject({ kind: 'upstream', code: 'agent_start_failed' });
    expect(error?.message).toMatch(words);
  });

  it('fails the start of a program that never listens', async () => {
    const { error } = (
      await guest.put({ command: [process.execPath, '-e', 'setInterval(() => 0, 1e6)'], readyWithinMs: 300 })
    ).body;
    expect(error).toMatchObject({
      code: 'agent_start_failed',
      message: expect.stringContaining('within 0.3 s') as string,
    });
  });

  it('without a program serves everything except chat', async () => {
    expect((await guest.put({ command: null })).body).toMatchObject({ program: 'none' });
    expect((await guest.deliver('hi')).body.error).toMatchObject({
      kind: 'unsupported',
      code: 'chat_unsupported',
    });
  });

  it('logs the program’s output with its level, and never a secret of its environment', async () => {
    await guest.put({ env: { SECRET: 'hush-hush' } });
    await guest.deliver('hi');
    await eventually(() => guest.log().length >= 2);
    const lines = guest.log().map(({ level, source, message }) => ({ level, source, message }));
    expect(lines).toContainEqual({ level: 'warn', source: 'agent', message: 'up' });
    expect(lines).toContainEqual({ level: 'error', source: 'agent', message: 'to stderr' });
    expect(JSON.stringify(guest.log())).not.toMatch(/hush-hush|token-1/);
  });

  it('logs what the program writes to its outputs by name', async () => {
    const script = 'echo said > /dev/stdout; echo complained > /dev/stderr; exit 3';
    await guest.put({ command: ['/bin/sh', '-c', script] });
    const lines = guest.log().map(({ level, source, message }) => ({ level, source, message }));
    expect(lines).toContainEqual({ level: 'info', source: 'agent', message: 'said' });
    expect(lines).toContainEqual({ level: 'error', source: 'agent', message: 'complained' });
  });

  it.each([
    ['a file', `PUT ${GUEST_ROUTES.stageFile.path}?id=stg_1&limit=1000`, 0],
    ['a message', `POST ${GUEST_ROUTES.deliver.path}`, GUEST_LIMITS.requestBytes + 1],
  ])(
    'returns its error for %s that is too large to a client that still writes',
    async (_, line, earlyBytes) => {
      await guest.put({ command: null });
      const head = `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 100000000\r\n\r\n`;
      const { text, error } = await sendBodyLate(
        { path: join(guest.dir, 'sock') },
        head + ' '.repeat(earlyBytes),
        Buffer.alloc(100_000_000 - earlyBytes),
      );
      expect(error).toBeUndefined();
      expect(text).toContain('payload_too_large');
    },
  );

  it('exits when its socket is removed', async () => {
    await guest.put();
    rmSync(join(guest.dir, 'sock'));
    await guest.guest.ended;
  });
});
