import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { request as httpRequest, type ClientRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { filesRequests } from '@berth/contracts/files';
import { DomainError, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { TestFiles } from '../fixtures/test-files.fixture.js';
import { anAgent } from '../fixtures/test-services.fixture.js';
import { readRaw, sendRaw, startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';

const CAP = 104_857_600;
const BOUNDARY = 'xYzZy';

let test: TestGateway;
let files: TestFiles;
const agent = anAgent();
const UPLOAD = `/api/agents/${agent.id}/files/upload`;

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

type Part = readonly [disposition: string, content: string];

const BYTES = '\r\nContent-Type: application/octet-stream';
const field = (name: string, value: string): Part => [`name="${name}"`, value];
const file = (name: string, content: string): Part => [`name="file"; filename="${name}"`, content];

const form = (...parts: readonly Part[]): string =>
  `${parts.map(([disposition, content]) => `--${BOUNDARY}\r\nContent-Disposition: form-data; ${disposition}\r\n\r\n${content}\r\n`).join('')}--${BOUNDARY}--\r\n`;

const MULTIPART = `multipart/form-data; boundary=${BOUNDARY}`;

const send = (body: string, more: { key?: string; headers?: Record<string, string> } = {}) =>
  test.call('POST', UPLOAD, {
    key: more.key ?? test.services.key(),
    body,
    headers: { 'content-type': MULTIPART, ...more.headers },
  });

const nothingIsLeft = async (): Promise<void> => {
  await eventually(async () => expect([await files.stagedFiles(), files.port.open]).toEqual([[], 0]));
};

const target = (): unknown => test.services.requestsTo(filesRequests.put)[0]?.payload['target'];

describe('an upload', () => {
  it.each<readonly [where: string, parts: readonly Part[]]>([
    ['before', [field('dest_dir', 'in/here'), file('a.txt', 'text')]],
    ['after', [file('a.txt', 'text'), field('dest_dir', 'in/here')]],
    ['as bytes after', [file('a.txt', 'text'), [`name="dest_dir"${BYTES}`, 'in/here']]],
  ])('is stored in exactly the folder that a part %s the file names', async (_where, parts) => {
    const { status, body } = await send(form(...parts));
    expect([status, body]).toEqual([
      200,
      { ok: true, path: files.at('in/here/a.txt'), name: 'a.txt', size: 4 },
    ]);
    expect(await readFile(files.at('in/here/a.txt'), 'utf8')).toBe('text');
    expect(target()).toEqual({ kind: 'folder', folder: 'in/here', name: 'a.txt' });
    await nothingIsLeft();
  });

  it.each([
    ['no field', [], null],
    ['an empty folder', [field('dest_dir', '')], null],
    ['a message', [field('message', 'look – here')], 'look – here'],
  ])('without a folder is an attachment: %s', async (_what, fields, message) => {
    const { status, body } = await send(form(...fields, file('a.txt', 'text')));
    expect([status, body['path']]).toEqual([200, files.at('inbox/a.txt')]);
    expect(test.services.requestsTo(filesRequests.putAttachment)[0]?.payload).toMatchObject({
      name: 'a.txt',
      message,
    });
    expect(test.services.requestsTo(filesRequests.put)).toEqual([]);
  });

  it('with a token needs the scope chat too without a folder, and leaves nothing when refused', async () => {
    const attached = form(file('a.txt', 'text'), field('dest_dir', ''));
    const key = test.services.token(['files'], agent.id);
    const refused = await send(attached, { key });
    expect([refused.status, refused.body.detail?.code]).toEqual([403, 'token_scope']);
    expect(test.services.requestsTo(filesRequests.putAttachment)).toEqual([]);
    await nothingIsLeft();
    const stored = await send(form(file('a.txt', 'text'), field('dest_dir', 'd')), { key });
    expect(stored.status).toBe(200);
    const both = test.services.token(['files', 'chat'], agent.id);
    expect((await send(attached, { key: both })).status).toBe(200);
  });

  it('is accepted as a browser or fetch sends it, and may be empty', async () => {
    const data = new FormData();
    data.append('ignored', 'x');
    data.append('file', new Blob([]), 'leer.txt');
    data.append('dest_dir', '/');
    const response = await fetch(test.gateway.url.replace('localhost', '127.0.0.1') + UPLOAD, {
      method: 'POST',
      body: data,
      headers: { authorization: `Bearer ${test.services.key()}` },
    });
    expect(await response.json()).toMatchObject({ detail: { code: 'path_outside_volume' } });
    data.set('dest_dir', '.');
    const again = await fetch(test.gateway.url.replace('localhost', '127.0.0.1') + UPLOAD, {
      method: 'POST',
      body: data,
      headers: { authorization: `Bearer ${test.services.key()}` },
    });
    expect(await again.json()).toMatchObject({ ok: true, name: 'leer.txt', size: 0 });
    await nothingIsLeft();
  });

  it.each([
    ['grün €.txt', 'grün €.txt'],
    ['up/../../etc/passwd', 'passwd'],
    ['C:\\\\stuff\\\\a.txt', 'a.txt'],
    ['a;b.txt', 'a;b.txt'],
  ])('uses the last part of the name %j', async (sent, name) => {
    expect((await send(form(file(sent, 'x'), field('dest_dir', 'd')))).body['name']).toBe(name);
  });

  it('accepts a name that is encoded as in RFC 5987', async () => {
    const part: Part = [`name="file"; filename*=UTF-8''gr%C3%BCn%20%E2%82%AC.txt`, 'x'];
    expect((await send(form(part, field('dest_dir', 'd')))).body['name']).toBe('grün €.txt');
  });

  it('keeps every byte, including those that look like a boundary', async () => {
    const content = `\r\n--${BOUNDARY.slice(0, -1)}\r\n--${BOUNDARY.toLowerCase()}--\r\n\0\r\n-`;
    await send(form(file('odd', content), field('dest_dir', '.')));
    expect(await readFile(files.at('odd'), 'utf8')).toBe(content);
  });
});

describe('a bad form', () => {
  it.each([
    ['no part at all', form(), 'file'],
    ['no file', form(field('dest_dir', 'd')), 'file'],
    ['a file under another name only', form(['name="data"; filename="a"', 'x']), 'file'],
    ['two files', form(file('a', '1'), file('b', '2')), 'file'],
    ['a field for a file', form(field('file', 'x')), 'file'],
    ['an empty name', form(file('', 'x')), 'file'],
    ['a file for a folder', form(file('a', 'x'), ['name="dest_dir"; filename="b"', 'd']), 'dest_dir'],
    ['a file for a message', form(['name="message"; filename="b"', 'm'], file('a', 'x')), 'message'],
    ['two folders', form(field('dest_dir', 'd'), field('dest_dir', 'e'), file('a', 'x')), 'dest_dir'],
    ['two messages', form(file('a', 'x'), field('message', 'm'), field('message', 'n')), 'message'],
    ['bytes without a name', form([`name="file"${BYTES}`, 'x'], field('dest_dir', 'd')), 'file'],
    ['a name that is a folder', form(file('a/', 'x')), 'file'],
    ['a name that leads up', form(file('..', 'x')), 'file'],
    ['no end', form(file('a', 'x')).slice(0, -8), ''],
    ['an end within the head of a part', `--${BOUNDARY}\r\nContent-Dispo`, ''],
    ['another boundary', form(file('a', 'x')).replaceAll(BOUNDARY, 'other'), ''],
    ['no form', 'hello', ''],
    ['a thousand parts', form(...Array.from({ length: 1_001 }, () => field('a', '')), file('a', 'x')), ''],
  ])('with %s is 400 with its fields, and nothing stays staged', async (_what, body, path) => {
    const { status, body: response } = await send(body);
    expect([status, response.detail?.code, response.detail?.fields?.[0]?.path]).toEqual([
      400,
      'invalid_request',
      path,
    ]);
    expect(test.services.requestsTo(filesRequests.put)).toEqual([]);
    await nothingIsLeft();
  });

  it('without a boundary is 400, of another type 415, without a body 400', async () => {
    for (const type of [
      'multipart/form-data',
      'multipart/form-data; boundary=',
      `multipart/form-data; boundary=${'b'.repeat(300)}`,
    ]) {
      const { status, body } = await send(form(file('a', 'x')), { headers: { 'content-type': type } });
      expect([status, body.detail?.fields?.[0]?.path]).toEqual([400, 'Content-Type']);
    }
    expect((await send('{}', { headers: { 'content-type': 'application/json' } })).status).toBe(415);
    expect((await send(form(), { headers: { 'content-encoding': 'gzip' } })).status).toBe(415);
    const none = await test.call('POST', UPLOAD, {
      key: test.services.key(),
      headers: { 'content-type': 'text/plain' },
    });
    expect([none.status, none.body.detail?.fields?.[0]?.path]).toEqual([400, 'file']);
  });

  it('with fields beyond 1 MiB is 413', async () => {
    const exact = await send(form(field('message', 'm'.repeat(1_048_576)), file('a', 'x')));
    expect(exact.status).toBe(200);
    for (const parts of [
      [field('message', 'm'.repeat(1_048_577)), file('a', 'x')],
      [file('a', 'x'), field('a', 'm'.repeat(600_000)), field('b', 'm'.repeat(600_000))],
      [file('a', 'x'), ['name="other"; filename="o"', 'm'.repeat(7_000_000)] as const],
    ]) {
      const { status, body } = await send(form(...parts));
      expect([status, body.detail?.['limitBytes']]).toEqual([413, 1_048_576]);
      await nothingIsLeft();
    }
  });

  it('takes precedence over the state of the agent, but not over a missing agent or an invalid key', async () => {
    test.services.on(filesRequests.openStage, () => {
      throw new DomainError('conflict', 'agent_stopped', 'Start it.');
    });
    expect((await send(form(file('a', 'x'), file('b', 'x')))).status).toBe(400);
    const { status, body } = await send(form(file('a', 'x'.repeat(2_000_000))));
    expect([status, body.detail?.code]).toEqual([409, 'agent_stopped']);
    test.services.agents.clear();
    expect((await send('hello')).status).toBe(404);
    expect((await send('hello', { key: test.services.key(['read']) })).status).toBe(403);
    expect((await test.call('POST', UPLOAD, { body: 'hello' })).status).toBe(401);
  });
});

/** Sends a form with a file of `bytes` bytes, all of it before it reads the response. */
const sendSized = async (bytes: number): Promise<ReturnType<typeof readRaw>> => {
  const begin = `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="big"\r\n\r\n`;
  const end = `\r\n--${BOUNDARY}\r\nContent-Disposition: form-data; name="dest_dir"\r\n\r\n.\r\n--${BOUNDARY}--\r\n`;
  const socket = connect(Number(new URL(test.gateway.url).port), '127.0.0.1').pause();
  const head = `POST ${UPLOAD} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${test.services.key()}\r\nContent-Type: ${MULTIPART}`;
  socket.write(`${head}\r\nTransfer-Encoding: chunked\r\n\r\n`);
  const write = async (chunk: string | Buffer): Promise<void> => {
    socket.write(`${chunk.length.toString(16)}\r\n`);
    socket.write(chunk);
    if (!socket.write('\r\n')) await once(socket, 'drain');
  };
  await write(begin);
  const chunk = Buffer.alloc(1_048_576, 'x');
  for (let left = bytes; left > 0; left -= chunk.length) await write(chunk.subarray(0, left));
  await write(end);
  socket.write('0\r\n\r\n');
  const [response] = (await once(socket.resume(), 'data')) as [Buffer];
  socket.destroy();
  return readRaw(response.toString());
};

const start = (headers: Record<string, string | number>): ClientRequest =>
  httpRequest(test.gateway.url.replace('localhost', '127.0.0.1') + UPLOAD, {
    method: 'POST',
    headers: { authorization: `Bearer ${test.services.key()}`, 'content-type': MULTIPART, ...headers },
  });

describe('the size limit', () => {
  it('allows exactly 100 MB', async () => {
    const { head, body } = await sendSized(CAP);
    expect(head).toContain('200 ok');
    expect(body).toEqual({ ok: true, path: files.at('big'), name: 'big', size: CAP });
    expect((await stat(files.at('big'))).size).toBe(CAP);
  });

  it.each([CAP + 1, 2 * CAP])(
    'refuses %d bytes with a response that the sender can read, and leaves nothing',
    async (bytes) => {
      const { head, body } = await sendSized(bytes);
      expect(head).toContain('http/1.1 413');
      expect(body.detail).toMatchObject({ code: 'payload_too_large', limitBytes: CAP });
      expect(test.services.requestsTo(filesRequests.put)).toEqual([]);
      await nothingIsLeft();
    },
  );

  it('refuses a length that cannot fit before a byte is read', async () => {
    const head = `POST ${UPLOAD} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${test.services.key()}\r\nContent-Type: ${MULTIPART}\r\nContent-Length: ${CAP + 2_000_000}\r\n\r\n`;
    const socket = connect(Number(new URL(test.gateway.url).port), '127.0.0.1');
    socket.write(head);
    const [bytes] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(readRaw(bytes.toString()).body.detail).toMatchObject({
      code: 'payload_too_large',
      limitBytes: CAP,
    });
    expect(test.services.requestsTo(filesRequests.openStage)).toEqual([]);
  });
});

describe('a client', () => {
  const head = (length: number): string =>
    `POST ${UPLOAD} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${test.services.key()}\r\nContent-Type: ${MULTIPART}\r\nContent-Length: ${length}\r\n\r\n`;

  it('that disconnects midway leaves nothing behind, and its transfer ends immediately', async () => {
    const socket = connect(Number(new URL(test.gateway.url).port), '127.0.0.1');
    socket.write(head(5_000_000) + form(file('a', 'x'.repeat(1_000_000))).slice(0, -20));
    await eventually(async () => expect(await files.stagedFiles()).toHaveLength(1));
    socket.destroy();
    await nothingIsLeft();
    expect(test.services.requestsTo(filesRequests.put)).toEqual([]);
  });

  it('that disconnects while the agent wakes leaves nothing behind', async () => {
    const { promise: awake, resolve: wake } = Promise.withResolvers<void>();
    test.services.on(filesRequests.openStage, async () => {
      await awake;
      const staged = { stagedId: newId('stg'), host: 'host1', epoch: 1 };
      return { ...files.port.ticketFor({ kind: 'stage', stagedId: staged.stagedId }), staged };
    });
    const socket = connect(Number(new URL(test.gateway.url).port), '127.0.0.1');
    socket.write(head(5_000_000) + form(file('a', 'x'.repeat(1_000_000))).slice(0, -20));
    await eventually(() => test.services.requestsTo(filesRequests.openStage).length === 1);
    socket.destroy();
    await once(socket, 'close');
    wake();
    await nothingIsLeft();
    expect(test.services.requestsTo(filesRequests.put)).toEqual([]);
  });

  it.each([
    ['midway', 5_000_000],
    ['while the agent wakes', 0],
  ])('whose key is revoked %s gets 401 and leaves nothing behind', async (_when, missing) => {
    const { promise: awake, resolve: wake } = Promise.withResolvers<void>();
    const staged = { stagedId: newId('stg'), host: 'host1', epoch: 1 };
    if (missing === 0)
      test.services.on(filesRequests.openStage, async () => {
        await awake;
        return { ...files.port.ticketFor({ kind: 'stage', stagedId: staged.stagedId }), staged };
      });
    const key = test.services.key();
    const body = form(file('a', 'x'.repeat(100_000)), field('dest_dir', '.'));
    const sent = missing === 0 ? body : body.slice(0, -100);
    const length = Buffer.byteLength(sent) + missing;
    const request = start({ authorization: `Bearer ${key}`, 'content-length': length });
    const responded = once(request, 'response') as Promise<[IncomingMessage]>;
    request.on('error', () => undefined).write(sent);
    await eventually(() => test.services.requestsTo(filesRequests.openStage).length === 1);
    test.services.revoke(key);
    const [response] = await responded;
    expect(response.statusCode).toBe(401);
    request.destroy();
    wake();
    await nothingIsLeft();
    expect(test.services.requestsTo(filesRequests.put)).toEqual([]);
  });

  it('that half-closes early gets 400', async () => {
    const socket = connect({
      port: Number(new URL(test.gateway.url).port),
      host: '127.0.0.1',
      allowHalfOpen: true,
    });
    let text = '';
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.end(head(5_000_000) + form(file('a', 'x'.repeat(1_000))).slice(0, -20));
    await once(socket, 'end');
    socket.destroy();
    expect(readRaw(text).head).toContain('http/1.1 400');
    await nothingIsLeft();
  });

  it('is slowed down by a host that reads nothing', async () => {
    let taken: IncomingMessage | undefined;
    files.port.intercept = (request) => {
      taken = request.pause();
      return true;
    };
    const request = start({});
    request.on('error', () => undefined);
    request.write(form(file('a', '')).split('\r\n\r\n')[0] + '\r\n\r\n');
    let written = 0;
    let before = -1;
    const chunk = Buffer.alloc(1_048_576);
    await eventually(
      () => {
        const isStable = before === written && taken !== undefined;
        before = written;
        while (written < CAP && request.writableLength === 0) {
          request.write(chunk);
          written += chunk.length;
        }
        return isStable && before === written;
      },
      { intervalMs: 100, timeoutMs: 20_000 },
    );
    expect(written).toBeLessThan(40_000_000);
    request.destroy();
    taken?.resume();
    await eventually(() => files.port.open === 0);
  });
});

describe('an Idempotency-Key', () => {
  const keyed = (body: string, key: string, idempotencyKey = 'k') =>
    send(body, { key, headers: { 'idempotency-key': idempotencyKey } });

  it('replays the same form with any framing, and discards the repeated file', async () => {
    const key = test.services.key();
    const first = await keyed(form(file('a', 'x'), field('dest_dir', 'd')), key);
    const again = await send(form(field('dest_dir', 'd'), file('a', 'x')).replaceAll(BOUNDARY, 'other'), {
      key,
      headers: { 'idempotency-key': 'k', 'content-type': 'multipart/form-data; boundary=other' },
    });
    expect([first.status, again.status, again.text]).toEqual([200, 200, first.text]);
    expect([first.headers.get('idempotent-replayed'), again.headers.get('idempotent-replayed')]).toEqual([
      null,
      'true',
    ]);
    expect(again.headers.get('content-type')).toBe(first.headers.get('content-type'));
    expect(test.services.requestsTo(filesRequests.put)).toHaveLength(1);
    await nothingIsLeft();
  });

  it.each([
    ['bytes', form(file('a', 'y'), field('dest_dir', 'd'))],
    ['a name', form(file('b', 'x'), field('dest_dir', 'd'))],
    ['a folder', form(file('a', 'x'), field('dest_dir', 'e'))],
    ['no folder', form(file('a', 'x'))],
  ])('is refused for another body: other %s', async (_what, other) => {
    const key = test.services.key();
    await keyed(form(file('a', 'x'), field('dest_dir', 'd')), key);
    const { status, body } = await keyed(other, key);
    expect([status, body.detail?.code]).toEqual([409, 'idempotency_key_reused']);
    await nothingIsLeft();
  });

  it('can be used again after an error, with the same command id if the outcome is unknown, and then only for the same form', async () => {
    const key = test.services.key();
    const body = form(file('a', 'x'), field('dest_dir', 'd'));
    test.services.on(filesRequests.put, () => {
      throw new DomainError('timeout', 'deadline_exceeded', 'late');
    });
    expect((await keyed(body, key)).status).toBe(504);
    const other = await keyed(form(file('a', 'y'), field('dest_dir', 'd')), key);
    expect([other.status, other.body.detail?.code]).toEqual([409, 'idempotency_key_reused']);
    test.services.on(filesRequests.put, ({ target }) => ({ path: '/d/a', name: target.kind, size: 1 }));
    expect((await keyed(body, key)).status).toBe(200);
    const [first, second] = test.services
      .requestsTo(filesRequests.put)
      .map(({ payload }) => payload['commandId']);
    expect(second).toBe(first);
  });

  it('that is too long is refused before a byte is read', async () => {
    const { status, body } = await keyed(form(file('a', 'x')), test.services.key(), 'x'.repeat(256));
    expect([status, body.detail?.fields?.[0]?.path]).toEqual([400, 'Idempotency-Key']);
    expect(test.services.requestsTo(filesRequests.openStage)).toEqual([]);
  });
});

describe('a request over HTTP/1.0 or with garbage after the form', () => {
  it('is accepted', async () => {
    const body = `preamble\r\n${form(file('a', 'x'), field('dest_dir', '.'))}epilogue`;
    const head = `POST ${UPLOAD} HTTP/1.0\r\nAuthorization: Bearer ${test.services.key()}\r\nContent-Type: ${MULTIPART}\r\nContent-Length: ${body.length}\r\n\r\n`;
    expect(readRaw(await sendRaw(test.gateway.url, head + body)).head).toContain('200 ok');
    expect(await readFile(files.at('a'), 'utf8')).toBe('x');
  });
});
