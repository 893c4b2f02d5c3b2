import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { request as httpRequest, type IncomingMessage } from 'node:http';
import { filesRequests } from '@berth/contracts/files';
import { DomainError, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refuse } from '../fixtures/data-port.fixture.js';
import { TestFiles } from '../fixtures/test-files.fixture.js';
import { anAgent } from '../fixtures/test-services.fixture.js';
import { startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';

let test: TestGateway;
let files: TestFiles;
const agent = anAgent();
const base = `/api/agents/${agent.id}/files`;

beforeAll(async () => {
  test = await startTestGateway();
  test.services.reset();
  files = await TestFiles.start(test.services);
});
afterAll(async () => {
  await test.stop();
  await files.stop();
});
beforeEach(async () => {
  test.services.reset();
  test.services.agents.set(agent.id, agent);
  await files.reset();
});

const get = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  test.call(method, `${base}/${path}`, { key: test.services.key(), headers });

describe('download', () => {
  it('returns the bytes, their headers, and the headers that keep browsers from running them', async () => {
    await writeFile(`${files.root}/notes.txt`, 'ten bytes!');
    const { status, headers, text } = await get('download?path=notes.txt');
    expect([status, text]).toEqual([200, 'ten bytes!']);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'content-length': '10',
      'content-disposition': 'attachment; filename=notes.txt',
      etag: '"10"',
      'accept-ranges': 'bytes',
      'cache-control': 'private, no-cache',
      'content-security-policy': 'sandbox',
      'x-content-type-options': 'nosniff',
      'x-request-id': expect.stringMatching(/^req_/) as string,
    });
    expect(headers.get('x-host-secret')).toBeNull();
  });

  it.each([
    ['a b.html', 'text/html; charset=utf-8', 'attachment; filename="a b.html"'],
    ['no-extension', 'application/octet-stream', 'attachment; filename=no-extension'],
    ['.json', 'application/octet-stream', 'attachment; filename=.json'],
    ['grün€.png', 'image/png', `attachment; filename="gr?n?.png"; filename*=UTF-8''gr%C3%BCn%E2%82%AC.png`],
    ['a"\n\\b.bin', 'application/octet-stream', expect.stringContaining("filename*=UTF-8''a%22%0A%5Cb.bin")],
  ])('sends %j with a safe file name and the type of its extension', async (name, type, disposition) => {
    await writeFile(`${files.root}/${name}`, 'x');
    const { status, headers } = await get(`download?path=${encodeURIComponent(name)}`);
    expect([status, headers.get('content-type')]).toEqual([200, type]);
    expect(headers.get('content-disposition')).toEqual(disposition);
  });

  it('returns ranges, 304 for an unchanged file, and 416 for a range out of bounds', async () => {
    await writeFile(`${files.root}/a`, '0123456789');
    const part = await get('download?path=a', { range: 'bytes=2-4' });
    expect([part.status, part.text, part.headers.get('content-range')]).toEqual([206, '234', 'bytes 2-4/10']);
    const same = await get('download?path=a', { 'if-none-match': '"10"' });
    expect([same.status, same.text, same.headers.get('etag')]).toEqual([304, '', '"10"']);
    const beyond = await get('download?path=a', { range: 'bytes=10-' });
    expect([beyond.status, beyond.body.detail?.code]).toEqual([416, 'range_not_satisfiable']);
    expect(beyond.headers.get('content-range')).toBe('bytes */10');
  });

  it('responds to HEAD with the headers and the status only', async () => {
    await writeFile(`${files.root}/a.txt`, '0123456789');
    const { status, headers, text } = await get('download?path=a.txt', {}, 'HEAD');
    expect([status, headers.get('content-length'), text]).toEqual([200, '10', '']);
    expect((await get('download?path=nope', {}, 'HEAD')).status).toBe(404);
    await eventually(() => files.port.open === 0);
  });

  it('returns an empty file', async () => {
    await writeFile(`${files.root}/empty`, '');
    const { status, headers, text } = await get('download?path=empty');
    expect([status, headers.get('content-length'), text]).toEqual([200, '0', '']);
  });

  it.each(['download', 'download?path=', 'download?path=a&path=b', 'delete', 'delete?path='])(
    'refuses %s without a path',
    async (path) => {
      const method = path.startsWith('delete') ? 'DELETE' : 'GET';
      const { status, body } = await get(path, {}, method);
      expect([status, body.detail?.code, body.detail?.fields?.[0]?.path]).toEqual([
        400,
        'invalid_request',
        'path',
      ]);
      expect(files.port.requests).toBe(0);
    },
  );

  it.each([
    [new DomainError('invalid', 'is_a_directory', 'A folder.'), 400],
    [new DomainError('forbidden', 'not_readable', 'Not yours.'), 403],
    [new DomainError('not_found', 'path_not_found', 'Nothing.'), 404],
    [new DomainError('too_large', 'payload_too_large', 'Big.', { limitBytes: 104_857_600 }), 413],
    [new DomainError('unavailable', 'guest_unreachable', 'guest.sock is gone'), 503],
  ])('passes a refusal of the host on: %s', async (refusal, status) => {
    files.port.intercept = (request, response) => {
      refuse(request, response, refusal);
      return true;
    };
    const response = await get('download?path=a');
    expect(response.status).toBe(status);
    expect(response.body.detail?.code).toBe(status === 503 ? 'agent_unavailable' : refusal.code);
    expect(response.text).not.toContain('sock');
    expect(files.port.requests).toBe(1);
  });

  it.each([
    '{}',
    'no json',
    '{"error":{"kind":"root","code":"x","message":"m"}}',
    '{"error":{"kind":"invalid","code":"A B","message":"m"}}',
  ])('is 503 when the response of the host is malformed: %s', async (nonsense) => {
    files.port.intercept = (_request, response) => {
      response.writeHead(422).end(nonsense);
      return true;
    };
    const { status, body } = await get('download?path=a');
    expect([status, body.detail?.code]).toEqual([503, 'agent_unavailable']);
  });
});

describe('a rejected ticket', () => {
  it('of a stale epoch is replaced by a new one, requested with that epoch', async () => {
    await writeFile(`${files.root}/a`, 'here');
    files.port.intercept = (request, response) => {
      if (files.port.requests > 2) return false;
      refuse(request, response, new DomainError('conflict', 'stale_epoch', 'Another one.'));
      return true;
    };
    const { status, text } = await get('download?path=a');
    expect([status, text]).toEqual([200, 'here']);
    const requests = test.services.requestsTo(filesRequests.openDownload);
    expect(requests.map(({ payload }) => payload['refusedEpoch'])).toEqual([null, 1, 1]);
  });

  it('is replaced at most twice', async () => {
    files.port.intercept = (request, response) => {
      refuse(request, response, new DomainError('unauthenticated', 'ticket_unknown', 'Unknown ticket.'));
      return true;
    };
    const { status, body } = await get('download?path=a');
    expect([status, body.detail?.code]).toEqual([503, 'agent_unavailable']);
    expect(test.services.requestsTo(filesRequests.openDownload)).toHaveLength(3);
  });

  it('of a host that no longer listens is replaced', async () => {
    await writeFile(`${files.root}/a`, 'here');
    const good = () => files.port.ticketFor({ kind: 'download', path: files.at('a') });
    let tickets = 0;
    test.services.on(filesRequests.openDownload, () =>
      ++tickets === 1 ? { ...good(), url: 'http://127.0.0.1:1/x' } : good(),
    );
    expect((await get('download?path=a')).text).toBe('here');
  });
});

describe('a response in progress', () => {
  it('is aborted when the host breaks off, so that it never looks complete', async () => {
    files.port.intercept = (_request, response) => {
      response.writeHead(200, { 'content-length': 1_000_000 });
      response.write('a'.repeat(1_000), () => response.destroy());
      return true;
    };
    await expect(get('download?path=a')).rejects.toThrow();
    files.port.intercept = (_request, response) => {
      response.writeHead(200);
      response.write('a'.repeat(1_000), () => response.destroy());
      return true;
    };
    await expect(get('download?path=a')).rejects.toThrow();
  });

  it('ends at the host as soon as the client is gone', async () => {
    await writeFile(`${files.root}/big`, Buffer.alloc(50_000_000));
    const hangUp = new AbortController();
    const response = await fetch(
      `${test.gateway.url.replace('localhost', '127.0.0.1')}${base}/download?path=big`,
      {
        headers: { authorization: `Bearer ${test.services.key()}` },
        signal: hangUp.signal,
      },
    );
    expect([response.status, files.port.open]).toEqual([200, 1]);
    hangUp.abort();
    await eventually(() => files.port.open === 0);
  });

  it('is closed within 5 s of the end of the credential with which it began', async () => {
    files.port.intercept = (_request, response) => {
      response.writeHead(200, { 'content-length': 1_000 });
      response.write('begun');
      return true;
    };
    for (const key of [test.services.key(), test.services.token(['files'], agent.id)]) {
      const url = `${test.gateway.url.replace('localhost', '127.0.0.1')}${base}/download?path=slow`;
      const request = httpRequest(url, { headers: { authorization: `Bearer ${key}` }, agent: false });
      request.end();
      const [response] = (await once(request, 'response')) as [IncomingMessage];
      const closed = new Promise((resolve) => response.on('error', resolve).resume());
      const since = performance.now();
      test.services.revoke(key);
      await closed;
      expect(performance.now() - since).toBeLessThan(5_000);
    }
    await eventually(() => files.port.open === 0);
  });

  it('waits for a slow reader and buffers little of the file', async () => {
    let sent = 0;
    files.port.intercept = (_request, response) => {
      response.writeHead(200, { 'content-length': 104_857_600 });
      const chunk = Buffer.alloc(65_536);
      const write = (): void => {
        while (sent < 104_857_600) {
          sent += chunk.length;
          if (!response.write(chunk)) return void response.once('drain', write);
        }
        response.end();
      };
      write();
      return true;
    };
    const request = httpRequest(
      `${test.gateway.url.replace('localhost', '127.0.0.1')}${base}/download?path=big`,
      {
        headers: { authorization: `Bearer ${test.services.key()}` },
      },
    ).end();
    const [response] = (await once(request, 'response')) as [import('node:http').IncomingMessage];
    let before = -1;
    await eventually(
      () => {
        const isStable = sent === before;
        before = sent;
        return isStable;
      },
      { intervalMs: 200 },
    );
    expect(sent).toBeLessThan(30_000_000);
    let received = 0;
    for await (const chunk of response) received += (chunk as Buffer).length;
    expect(received).toBe(104_857_600);
  });
});

describe('list', () => {
  it('returns the listing of the host; of the volume if the path is absent or empty', async () => {
    await writeFile(`${files.root}/b.txt`, 'four');
    for (const path of ['list', 'list?path=', 'list?path=.']) {
      const { status, headers, body } = await get(path);
      expect([status, headers.get('content-type')]).toEqual([200, 'application/json; charset=utf-8']);
      expect(body).toMatchObject({
        path: files.root,
        root: files.root,
        entries: [{ name: 'b.txt', isDir: false, size: 4, mtime: expect.any(Number) as number }],
      });
    }
    expect(test.services.requestsTo(filesRequests.openList).map(({ payload }) => payload['path'])).toEqual([
      null,
      null,
      '.',
    ]);
    const missing = await get('list?path=nope');
    expect([missing.status, missing.body.detail?.code]).toEqual([404, 'path_not_found']);
  });
});

describe('changes', () => {
  const send = (method: string, path: string, json?: unknown) =>
    test.call(method, `${base}/${path}`, {
      key: test.services.key(),
      ...(json === undefined ? {} : { json }),
    });

  it('return the changes with canonical paths', async () => {
    expect((await send('POST', 'mkdir', { path: 'a/./b' })).body).toEqual({
      ok: true,
      path: files.at('a/b'),
    });
    expect((await send('POST', 'move', { from: 'a', to: 'c' })).body).toEqual({
      ok: true,
      from: files.at('a'),
      to: files.at('c'),
    });
    expect((await send('DELETE', 'delete?path=c')).body).toEqual({ ok: true, path: files.at('c') });
  });

  it.each([
    ['mkdir', {}, ['path']],
    ['mkdir', { path: '' }, ['path']],
    ['mkdir', { path: 7 }, ['path']],
    ['mkdir', { path: '\ud800' }, ['path']],
    ['move', { from: 'a' }, ['to']],
    ['move', {}, ['from', 'to']],
  ])('refuse a bad body of %s: %j', async (path, json, fields) => {
    const { status, body } = await send('POST', path, json);
    expect([status, body.detail?.fields?.map((field) => field.path)]).toEqual([400, fields]);
  });

  it('pass paths on unchanged, for the service to validate', async () => {
    await send('POST', 'mkdir', { path: 'nul\0' });
    expect(test.services.requestsTo(filesRequests.mkdir)[0]?.payload['path']).toBe('nul\0');
  });
});

describe('an unknown agent', () => {
  it('is 404 before any other error', async () => {
    const key = test.services.key();
    for (const path of ['download', 'delete']) {
      const method = path === 'delete' ? 'DELETE' : 'GET';
      const { status, body } = await test.call(method, `/api/agents/${newId('agt')}/files/${path}`, { key });
      expect([status, body.detail?.code]).toEqual([404, 'agent_not_found']);
    }
  });
});
