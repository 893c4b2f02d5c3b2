import { readFile, writeFile } from 'node:fs/promises';
import { computersRequests } from '@berth/contracts/computers';
import { FILE_LIMIT_BYTES } from '@berth/contracts/files';
import { DomainError, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { startTestGateway, type Call, type TestGateway } from '../fixtures/gateway.fixture.js';
import { TestFiles } from '../fixtures/test-files.fixture.js';
import { aComputer } from '../fixtures/test-services.fixture.js';

const computer = aComputer();
const path = `/api/v1/computers/${computer.id}`;
let test: TestGateway;
let files: TestFiles;
let key: string;

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
  test.services.computers.set(computer.id, computer);
  await files.reset();
  files.serveComputer();
  key = test.services.key(['read', 'computers']);
});

const call = (method: string, at: string, more: Call = {}) =>
  test.call(method, `${path}/${at}`, { key, ...more });

describe('files of a computer', () => {
  it('are listed from the home folder', async () => {
    await writeFile(`${files.root}/a.txt`, 'x');
    const { status, body } = await call('GET', 'files/list');
    expect([status, body]).toMatchObject([200, { root: files.root, entries: [{ name: 'a.txt', size: 1 }] }]);
    expect((await call('GET', 'files/list?path=nope')).body.detail?.code).toBe('path_not_found');
  });

  it('are read with ranges, conditions and the headers of a download', async () => {
    await writeFile(`${files.root}/a.txt`, '0123456789');
    const whole = await call('GET', 'files?path=a.txt');
    expect([whole.status, whole.text, whole.headers.get('etag')]).toEqual([200, '0123456789', '"10"']);
    expect(whole.headers.get('content-disposition')).toBe('attachment; filename=a.txt');
    const part = await call('GET', 'files?path=a.txt', { headers: { range: 'bytes=2-4' } });
    expect([part.status, part.text, part.headers.get('content-range')]).toEqual([206, '234', 'bytes 2-4/10']);
    const same = await call('GET', 'files?path=a.txt', { headers: { 'if-none-match': '"10"' } });
    expect(same.status).toBe(304);
    const head = await call('HEAD', 'files?path=a.txt');
    expect([head.status, head.headers.get('content-length')]).toEqual([200, '10']);
  });

  it.each(['', 'text', Buffer.alloc(300_000, 7)])('are written as they are sent', async (content) => {
    const { status, body } = await call('PUT', 'files?path=sub/new.bin', {
      body: content,
      headers: { 'content-type': 'image/png' },
    });
    const at = `${files.root}/sub/new.bin`;
    const size = Buffer.byteLength(content);
    expect([status, body]).toEqual([200, { ok: true, path: at, name: 'new.bin', size }]);
    expect(await readFile(at)).toEqual(Buffer.from(content));
  });

  it('are not written with more than 104,857,600 bytes, and leave nothing staged', async () => {
    const chunk = new Uint8Array(1_048_576);
    let sent = 0;
    const stream = new ReadableStream<Uint8Array>({
      pull(controller) {
        if (sent > FILE_LIMIT_BYTES) return controller.close();
        sent += chunk.length;
        controller.enqueue(chunk);
      },
    });
    const response = await fetch(
      `${test.gateway.url.replace('localhost', '127.0.0.1')}${path}/files?path=big`,
      {
        method: 'PUT',
        headers: { authorization: `Bearer ${key}` },
        body: stream,
        duplex: 'half',
      },
    );
    expect(response.status).toBe(413);
    await eventually(async () => expect(await files.stagedFiles()).toEqual([]));
  });

  it('are 503 `computer_unavailable` while the host cannot be reached', async () => {
    test.services.on(computersRequests.openDownload, () => ({
      url: 'http://127.0.0.1:9/',
      ticket: 'x',
      epoch: 1,
    }));
    const { status, body } = await call('GET', 'files?path=a.txt');
    expect([status, body.detail?.code]).toEqual([503, 'computer_unavailable']);
  });

  it('pass on the refusals of the service', async () => {
    test.services.on(computersRequests.openStage, () => {
      throw new DomainError('conflict', 'computer_starting', 'It is still waking.');
    });
    const { status, body } = await call('PUT', 'files?path=a', { body: 'x' });
    expect([status, body.detail?.code]).toEqual([409, 'computer_starting']);
  });
});

describe('a screenshot', () => {
  const image = Buffer.from([137, 80, 78, 71]);

  beforeEach(() => {
    test.services.on(computersRequests.openScreenshot, () => ({
      url: files.port.url,
      ticket: newId('cmd'),
      epoch: 1,
    }));
    files.port.intercept = (_request, response) => {
      response.writeHead(200, {
        'content-type': 'image/png',
        'content-length': image.length,
        'berth-width': 640,
        'berth-height': 400,
        'berth-captured-at': '2026-11-21T10:00:00.000Z',
      });
      response.end(image);
      return true;
    };
  });

  const take = async (query: string, accept?: string, method = 'GET') => {
    const response = await fetch(
      `${test.gateway.url.replace('localhost', '127.0.0.1')}${path}/screenshot${query}`,
      {
        method,
        headers: { authorization: `Bearer ${key}`, ...(accept === undefined ? {} : { accept }) },
      },
    );
    return { response, bytes: Buffer.from(await response.arrayBuffer()) };
  };

  it('is the bytes of the image, of the requested format and size', async () => {
    const { response, bytes } = await take('?format=jpeg&quality=50&scale=0.5');
    expect([response.status, response.headers.get('content-type'), bytes]).toEqual([
      200,
      'image/jpeg',
      image,
    ]);
    const [{ payload } = { payload: {} }] = test.services.requestsTo(computersRequests.openScreenshot);
    expect(payload).toMatchObject({ format: 'jpeg', quality: 50, scale: 0.5 });
    const head = await take('', undefined, 'HEAD');
    expect([head.response.status, head.response.headers.get('content-length')]).toEqual([200, '4']);
  });

  it.each(['application/json', 'application/json, text/plain, */*'])(
    'is JSON with Accept: %s',
    async (accept) => {
      const { bytes } = await take('', accept);
      expect(JSON.parse(bytes.toString())).toEqual({
        format: 'png',
        width: 640,
        height: 400,
        data: image.toString('base64'),
        capturedAt: '2026-11-21T10:00:00.000Z',
      });
    },
  );

  it('passes through as JSON too, so that a caller who reads slowly keeps no image in memory', async () => {
    const all = Buffer.from(Array.from({ length: 100_001 }, (_, index) => index % 251));
    const [first, last] = [all.subarray(0, 60_000), all.subarray(60_000)];
    let finish = (): void => undefined;
    files.port.intercept = (_request, response) => {
      response.writeHead(200, { 'content-length': all.length });
      response.write(first);
      finish = () => void response.end(last);
      return true;
    };
    const response = await fetch(`${test.gateway.url.replace('localhost', '127.0.0.1')}${path}/screenshot`, {
      headers: { authorization: `Bearer ${key}`, accept: 'application/json' },
    });
    let text = '';
    for await (const chunk of (response.body as ReadableStream<Uint8Array>).values()) {
      text += Buffer.from(chunk).toString();
      if (text.length > first.length) finish();
    }
    expect((JSON.parse(text) as { data: string }).data).toBe(all.toString('base64'));
    expect(response.headers.get('content-length')).toBe(String(text.length));
  });
});
