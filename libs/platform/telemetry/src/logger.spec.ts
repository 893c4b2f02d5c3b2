import { SECRET_PREFIXES } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { createLogger, requestContext, type Logger, type LoggerOptions } from './index.js';

const recordingLogger = (options: Partial<LoggerOptions> = {}): { log: Logger; lines: string[] } => {
  const lines: string[] = [];
  const destination = { write: (line: string) => void lines.push(line) };
  return { lines, log: createLogger({ service: 'agents', destination, ...options }) };
};

describe('the logger', () => {
  it('writes JSON lines with the service and the request id of the current request, also after awaits', async () => {
    const { log, lines } = recordingLogger();
    await requestContext.run({ requestId: 'req-1' }, async () => {
      await new Promise((resolve) => setImmediate(resolve));
      log.info({ agentId: 'agt_1' }, 'Started.');
    });
    log.info('Outside.');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      service: 'agents',
      requestId: 'req-1',
      agentId: 'agt_1',
      msg: 'Started.',
    });
    expect(JSON.parse(lines[1] ?? '')).not.toHaveProperty('requestId');
  });

  const canary = 'hunter2hunter2hunter2hunter2';
  it.each<[string, object, string]>([
    ['an authorization header', { headers: { Authorization: `Bearer ${canary}` } }, ''],
    ['a token member at any depth', { a: { b: { c: { accessToken: canary } } } }, ''],
    ['tokens in lists', { list: [{ token: canary }, { api_key: canary }] }, ''],
    ['the value of a variable', { env: [{ key: 'OPENAI', value: canary, isSecret: true }] }, ''],
    ['a token in a URL member', { url: `/api/agents/a/console?cols=1&token=${canary}&rows=2` }, ''],
    ['a token in the message', {}, `GET /x?token=${canary}`],
    ['a bearer token in the message', {}, `sent Bearer ${canary}`],
    ['an API key in the message', {}, `key mk_${canary} refused`],
    ['an end user token in an error', { err: new Error(`bad eu_${canary}`) }, ''],
    ['a token of an agent', {}, `at_01jd8z6x3k5e0g2h4m6p8r0t2v_7_${canary} was refused`],
    ['a key behind a name', {}, `BERTH_API_KEY_mk_${canary}`],
    ['what a variable is set to', {}, `BERTH_API_KEY=mk_${canary}`],
    ['a basic credential', {}, `Basic ${canary}`],
    ['a transfer ticket', { ticket: canary }, ''],
    ['the password of a broker', { err: new Error(`nats://u:${canary}@h1:4222,h2:4222 is away`) }, ''],
    ['passwords of several brokers', {}, `nats://u:x@h1:4222,nats://u:p@${canary}@h2:4222`],
    ['the token of a broker', {}, `connecting to nats://${canary}@h1:4222`],
    ['the password of an event log', {}, `esdb://admin:${canary}@h1:2113?tls=true`],
    ['a password in a URL', { url: `postgres://berth:${canary}@host/db` }, ''],
    [
      'what a driver attaches to its errors',
      { err: Object.assign(new Error('x'), { parameters: [canary], query: canary }) },
      '',
    ],
    [
      'the cause of an error',
      { err: new Error('x', { cause: Object.assign(new Error('y'), { detail: canary }) }) },
      '',
    ],
    ['the token of an instance', { token: { secret: canary } }, ''],
    ['cookies', { 'set-cookie': `a=${canary}` }, ''],
  ])('hides %s', (_what, fields, message) => {
    const { log, lines } = recordingLogger();
    log.info(fields, message);
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain(canary);
    expect(() => JSON.parse(lines[0] ?? '') as unknown).not.toThrow();
  });

  it.each(Object.entries(SECRET_PREFIXES))(
    'redacts every %s by its prefix, anywhere in a line',
    (_kind, prefix) => {
      const { log, lines } = recordingLogger();
      const secret = `${prefix}_${canary}-${canary}_${canary}`;
      log.info(
        { where: secret, list: [`x=${secret}`], err: new Error(`<${secret}>`) },
        `(${secret}) /${secret}/ "${secret}"`,
      );
      expect(lines[0]).not.toContain(canary);
    },
  );

  it.each([
    ['a line', '\n'],
    ['a line after CRLF', '\r\n'],
    ['a column', '\t'],
    ['a coloured word', '\u001b[32m'],
    ['a control character', '\u0001'],
    ['an encoded part of a URL', '%2F'],
  ])('redacts secrets at the beginning of %s', (_what, before) => {
    const { log, lines } = recordingLogger();
    const tokens = Object.values(SECRET_PREFIXES).map(
      (prefix) => `${prefix}_${canary.slice(0, 9)}-${canary}`,
    );
    for (const secret of [...tokens, `Bearer ${canary}`, `token=${canary}`, `nats://${canary}@h1:4222`]) {
      const text = `x${before}${secret}`;
      log.info({ text, err: new Error(text) }, text);
      expect(lines.pop()).not.toContain(canary);
    }
  });

  it('redacts the bindings of a child logger', () => {
    const { log, lines } = recordingLogger();
    log.child({ token: canary, url: `?token=${canary}` }).info('x');
    expect(lines[0]).not.toContain(canary);
  });

  it('keeps everything that is not a secret', () => {
    const { log, lines } = recordingLogger();
    log.info(
      { env: { key: 'REGION', value: 'eu', isSecret: false }, externalId: 'eus_01', n: 1n, at: new Date(0) },
      'tokens: 3, changed_at_the_time_of_the_start, at_rest, http://host:80/a@b',
    );
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      env: { key: 'REGION', value: 'eu', isSecret: false },
      externalId: 'eus_01',
      n: '1',
      at: '1970-01-01T00:00:00.000Z',
      msg: 'tokens: 3, changed_at_the_time_of_the_start, at_rest, http://host:80/a@b',
    });
  });

  it('handles circular references, buffers and deep nesting', () => {
    const { log, lines } = recordingLogger();
    const circle: Record<string, unknown> = { data: Buffer.alloc(1_000) };
    circle['self'] = circle;
    log.info({ circle }, 'x');
    expect(lines[0]?.length).toBeLessThan(2_000);
  });

  it('keeps the type, message, code and stack of an error', () => {
    const { log, lines } = recordingLogger();
    log.error({ err: Object.assign(new TypeError('broken'), { code: 'E_X' }) }, 'x');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      err: { type: 'TypeError', message: 'broken', code: 'E_X' },
    });
    expect(lines[0]).toContain('logger.spec');
  });

  it('prints readable single lines on a terminal', () => {
    const { log, lines } = recordingLogger({ pretty: true });
    log.warn({ agentId: 'agt_1', n: 2 }, `Slow ?token=${canary}`);
    expect(lines[0]).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} {2}WARN {3}agents {2}Slow \?token=\[redacted\] {2}agentId=agt_1 {2}n=2\n$/,
    );
  });

  it('logs nothing below its level', () => {
    const { log, lines } = recordingLogger({ level: 'warn' });
    log.info('x');
    expect(lines).toEqual([]);
  });
});
