import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import {
  KEY,
  OTHER_KEY,
  berth,
  collect,
  dataFolder,
  type ServiceResponse,
  type RecordedRequest,
} from './recording-service.fixture.js';
import { run } from './run.js';

const view = (id: string, more: object = {}) => ({
  id,
  name: 'ci',
  scopes: ['read'],
  accountId: 'acc_1',
  createdAt: '2026-11-21T08:00:00.000Z',
  lastUsedAt: null,
  expiresAt: null,
  revokedAt: null,
  ...more,
});

describe('berth keys mint', () => {
  it('sends name, scopes and expiry, and prints nothing but the key to standard output', async () => {
    const argv = [
      'keys',
      'mint',
      '--name',
      'ci',
      '--scope',
      'read',
      '--scope',
      'deploy',
      '--expires-at',
      '2030-01-01T00:00:00Z',
    ];
    const minted = view('key_1', { key: OTHER_KEY, scopes: ['read', 'deploy'] });
    const result = await berth(argv, { respond: () => ({ status: 201, body: minted }) });
    expect(result).toMatchObject({ exitCode: 0, out: `${OTHER_KEY}\n` });
    expect(result.err).toContain('not shown again');
    expect(result.seen).toEqual([
      {
        method: 'POST',
        url: '/api/v1/keys',
        authorization: `Bearer ${KEY}`,
        body: { name: 'ci', scopes: ['read', 'deploy'], expiresAt: '2030-01-01T00:00:00.000Z' },
      },
    ]);
  });

  it('requests the scope read when none is given', async () => {
    const result = await berth(['keys', 'mint', '--name', 'ci', '--json'], {
      respond: () => ({ status: 201, body: view('key_1', { key: OTHER_KEY }) }),
    });
    expect(result.seen[0]?.body).toEqual({ name: 'ci', scopes: ['read'] });
    expect(JSON.parse(result.out)).toMatchObject({ id: 'key_1', key: OTHER_KEY });
  });

  it.each([
    [['keys', 'mint'], '--name'],
    [
      ['keys', 'mint', '--name', 'ci', '--scope', 'root'],
      'Scopes are read, deploy, manage, computers, operate',
    ],
    [['keys', 'mint', '--name', 'ci', '--expires-at', 'tomorrow'], 'Give a time'],
    [['keys', 'mint', '--name', 'ci', 'surplus'], 'too many arguments'],
    [['keys', 'mint', '--name', 'ci', '--nam', 'ci'], 'unknown option'],
    [['keyz'], 'unknown command'],
    [['keys', 'revoke'], 'missing required argument'],
    [['projections', 'rebuild'], 'missing required argument'],
  ])('exits 2 and sends nothing for an invalid command line: %j', async (argv, message) => {
    const result = await berth(argv);
    expect(result.exitCode).toBe(2);
    expect(result.err).toContain(message);
    expect(result.seen).toEqual([]);
  });
});

describe('berth keys list', () => {
  it('follows the cursor to the last page', async () => {
    const result = await berth(['keys', 'list'], {
      respond: ({ url }) =>
        url.includes('cursor=a%2Fb')
          ? { status: 200, body: { items: [view('key_1')], nextCursor: null } }
          : { status: 200, body: { items: [view('key_2')], nextCursor: 'a/b' } },
    });
    expect(result.exitCode).toBe(0);
    expect(result.out.split('\n').map((line) => line.split(' ')[0])).toEqual(['ID', 'key_2', 'key_1', '']);
  });

  it('replaces the control characters in a name', async () => {
    const items = [view('key_1', { name: 'a\u001b[2Jb\u202e' })];
    const result = await berth(['keys', 'list'], {
      respond: () => ({ status: 200, body: { items, nextCursor: null } }),
    });
    expect(result.out).toContain('a?[2Jb?');
  });
});

describe('berth keys revoke', () => {
  it('revokes the key, even if its id contains characters that are special in a URL', async () => {
    const result = await berth(['keys', 'revoke', 'key_1/../x'], { respond: () => ({ status: 204 }) });
    expect(result.exitCode).toBe(0);
    expect(result.seen[0]).toMatchObject({ method: 'DELETE', url: '/api/v1/keys/key_1%2F..%2Fx' });
  });

  it('exits 1 with the code, message and request id of an error', async () => {
    const result = await berth(['keys', 'revoke', 'key_9'], {
      respond: () => ({
        status: 404,
        headers: { 'x-request-id': 'req_7' },
        body: { detail: { code: 'key_not_found', message: 'No such key.' } },
      }),
    });
    expect(result).toMatchObject({
      exitCode: 1,
      err: 'berth: 404 key_not_found: No such key. [request req_7]\n',
    });
  });
});

describe('the API key', () => {
  const listed = () => ({ status: 200, body: { items: [], nextCursor: null } });

  it('is the bootstrap key of the data folder when BERTH_API_KEY is not set', async () => {
    const data = await dataFolder();
    await writeFile(join(data, 'bootstrap-key'), `${OTHER_KEY}\n`);
    const result = await berth(['keys', 'list'], {
      respond: listed,
      env: { BERTH_API_KEY: undefined, BERTH_DATA: data },
    });
    expect(result.seen[0]?.authorization).toBe(`Bearer ${OTHER_KEY}`);
  });

  it('is named by its variable in the error when it is missing', async () => {
    const result = await berth(['keys', 'list'], { respond: listed, env: { BERTH_API_KEY: undefined } });
    expect(result).toMatchObject({ exitCode: 2, seen: [] });
    expect(result.err).toContain('BERTH_API_KEY');
  });

  it('is neither sent nor printed when it is malformed', async () => {
    const mistyped = `${KEY.slice(0, -1)}${KEY.endsWith('a') ? 'b' : 'a'}`;
    const result = await berth(['keys', 'list'], { respond: listed, env: { BERTH_API_KEY: mistyped } });
    expect(result).toMatchObject({ exitCode: 2, seen: [] });
    expect(result.err).not.toContain(mistyped);
  });

  it('is not sent to another host by a redirect', async () => {
    const result = await berth(['keys', 'list'], {
      respond: () => ({ status: 302, headers: { location: '/elsewhere' } }),
    });
    expect(result.exitCode).toBe(3);
    expect(result.seen).toHaveLength(1);
  });
});

describe('berth openapi', () => {
  it('prints the document without needing a key', async () => {
    const result = await berth(['openapi'], {
      respond: () => ({ status: 200, body: { openapi: '3.1.0' } }),
      env: { BERTH_API_KEY: undefined },
    });
    expect(JSON.parse(result.out)).toEqual({ openapi: '3.1.0' });
    expect(result.seen[0]).toMatchObject({ url: '/openapi.json', authorization: undefined });
  });
});

describe('berth projections', () => {
  const projection = (more: object = {}) => ({
    name: 'key-list',
    service: 'accounts',
    version: 1,
    position: '9007199254740993',
    lag: 0,
    rebuilding: null,
    lastRebuild: null,
    ...more,
  });
  const running = { applied: 500, total: 1_000, eventsPerSecond: 250, secondsLeft: 2 };

  it('lists every projection with its position', async () => {
    const result = await berth(['projections', 'list'], {
      respond: () => ({ status: 200, body: { items: [projection()] } }),
    });
    expect(result.out).toContain('9007199254740993');
  });

  const rebuilding = (end: object) => {
    let requests = 0;
    return ({ method }: RecordedRequest): ServiceResponse => {
      if (method === 'POST') return { status: 202, body: projection({ rebuilding: running }) };
      requests++;
      return { status: 200, body: { items: [projection(requests < 2 ? { rebuilding: running } : end)] } };
    };
  };

  it('shows rate and time left of a rebuild until it is done', async () => {
    const respond = rebuilding({ lastRebuild: { outcome: 'completed', at: '2026-11-21T08:00:00.000Z' } });
    const result = await berth(['projections', 'rebuild', 'key-list'], { respond, isTTY: true });
    expect(result.exitCode).toBe(0);
    expect(result.err).toContain('50 %  500 of 1,000 events  250/s  2 s left');
    expect(result.err).toContain('key-list was rebuilt');
    expect(result.seen[0]).toMatchObject({
      method: 'POST',
      url: '/api/v1/operations/projections/key-list/rebuild',
    });
  });

  it('writes plain lines if standard error is not a terminal', async () => {
    const respond = rebuilding({ lastRebuild: { outcome: 'completed', at: '2026-11-21T08:00:00.000Z' } });
    const result = await berth(['projections', 'rebuild', 'key-list'], { respond });
    expect(result.err).not.toContain('\u001b');
  });

  it('continues when a busy service is missing from one response', async () => {
    let requests = 0;
    const done = projection({ lastRebuild: { outcome: 'completed', at: '2026-11-21T08:00:00.000Z' } });
    const respond = ({ method }: RecordedRequest): ServiceResponse =>
      method === 'POST'
        ? { status: 202, body: projection({ rebuilding: running }) }
        : { status: 200, body: { items: ++requests < 3 ? [] : [done] } };
    expect(await berth(['projections', 'rebuild', 'key-list'], { respond })).toMatchObject({ exitCode: 0 });
  });

  it('exits 1 when the rebuild failed', async () => {
    const respond = rebuilding({ lastRebuild: { outcome: 'failed', at: '2026-11-21T08:00:00.000Z' } });
    const result = await berth(['projections', 'rebuild', 'key-list'], { respond });
    expect(result.exitCode).toBe(1);
    expect(result.err).toContain('stay in use');
  });
});

const unusedPort = async (): Promise<number> => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
};

describe('a service in trouble', () => {
  it.each([503, 500, 429])('is exit code 3 at %i', async (status) => {
    const result = await berth(['keys', 'list'], {
      respond: () => ({ status, body: { detail: { code: 'x', message: 'Later.' } } }),
    });
    expect(result).toMatchObject({ exitCode: 3, err: `berth: ${status} x: Later.\n` });
  });

  it('is exit code 3 and names the address when nothing listens there', async () => {
    const { text, terminal } = collect();
    const url = `http://127.0.0.1:${await unusedPort()}`;
    const env = { BERTH_URL: url, BERTH_API_KEY: KEY };
    expect(await run(['keys', 'list'], env, terminal)).toBe(3);
    expect(text.err).toContain(`${url} (ECONNREFUSED)`);
  });

  it('is distinguished from another program on that port', async () => {
    const result = await berth(['keys', 'list'], { respond: () => ({ status: 200, body: '<html>' }) });
    expect(result.exitCode).toBe(1);
    expect(result.err).toContain('Is that Berth?');
  });
});

describe('help', () => {
  it('goes to standard output with exit code 0 and explains environment and exit codes', async () => {
    const result = await berth(['--help']);
    expect(result.exitCode).toBe(0);
    for (const word of ['keys', 'projections', 'dead-letters', 'openapi', 'BERTH_URL', 'Exit codes'])
      expect(result.out).toContain(word);
  });

  it('exists for every command', async () => {
    for (const argv of [['keys'], ['keys', 'mint'], ['projections', 'rebuild'], ['openapi']]) {
      expect(await berth([...argv, '--help'])).toMatchObject({ exitCode: 0 });
    }
  });

  it('names an invalid environment variable before anything is sent', async () => {
    const result = await berth(['keys', 'list'], { env: { PORT: 'eighty' } });
    expect(result).toMatchObject({ exitCode: 2, seen: [] });
    expect(result.err).toContain('PORT');
  });
});
