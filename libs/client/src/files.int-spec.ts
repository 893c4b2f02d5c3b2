import { createReadStream } from 'node:fs';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { ServiceConnectionError, ServiceNotFoundError, type UploadFile } from './index.js';
import { fileFromPath, saveTo } from './node.js';
import {
  broken,
  json,
  refusal,
  rejection,
  TestServer,
  type Answer,
  type Received,
} from './server.fixture.js';

let server: TestServer;
let folder: string;
beforeAll(async () => {
  server = await TestServer.start();
  folder = await mkdtemp(join(tmpdir(), 'berth-client-'));
});
afterEach(() => server.reset());
afterAll(async () => {
  await server.close();
  await rm(folder, { recursive: true });
});

const bytes = Uint8Array.from({ length: 200_000 }, (_, index) => index % 251);
const sends: Answer = (_, response) =>
  response
    .writeHead(200, { 'content-type': 'image/png', 'content-length': String(bytes.length), etag: '"1"' })
    .end(bytes);
const short: Answer = (_, response) => {
  response.writeHead(200, { 'content-length': '1000' }).write('only this');
  setImmediate(() => response.destroy());
};

describe('a download', () => {
  it('has its headers at once, and its bytes as a stream, bytes or text', async () => {
    server.answer = sends;
    const download = await server.client().files.download('a', '/etc/a b');
    expect(download.headers.get('content-type')).toBe('image/png');
    expect(download.headers.get('etag')).toBe('"1"');
    expect(await download.bytes()).toEqual(bytes);
    expect(server.received[0]?.target).toBe('/api/agents/a/files/download?path=%2Fetc%2Fa%20b');
    expect(server.received[0]?.headers['accept-encoding']).toBe('identity');
    const streamed = await new Response(
      (await server.client().files.download('a', 'x')).stream(),
    ).arrayBuffer();
    expect(new Uint8Array(streamed)).toEqual(bytes);
    server.answer = (_, response) => response.end('Grüße \u{1f600}');
    expect(await (await server.client().computers.download('c', 'x')).text()).toBe('Grüße 😀');
    expect(server.received[2]?.target).toBe('/api/v1/computers/c/files?path=x');
  });

  it('names a file whose name is no UTF-8 by its bytes', async () => {
    server.answer = sends;
    (await server.client().files.download('a', Uint8Array.of(0x61, 0xff))).cancel();
    expect(server.received[0]?.query.get('pathBase64')).toBe('Yf8=');
  });

  it('is read once', async () => {
    server.answer = sends;
    const download = await server.client().files.download('a', 'x');
    await download.bytes();
    expect(await rejection(download.bytes())).toBeInstanceOf(TypeError);
  });

  it('throws if it is short, and is not repeated once it was begun', async () => {
    server.answer = short;
    const download = await server.client().files.download('a', 'x');
    expect(await rejection(download.text())).toBeInstanceOf(ServiceConnectionError);
    const lacking = server.client({
      fetch: () => Promise.resolve(new Response('abc', { headers: { 'content-length': '5' } })),
    });
    expect(await rejection((await lacking.files.download('a', 'x')).bytes())).toMatchObject({
      code: 'connection_failed',
      message: expect.stringContaining('3 of 5'),
    });
    expect(server.received).toHaveLength(1);
  });

  it('is repeated until its headers are there, and rejects with what the service refuses', async () => {
    server.answers(broken, sends);
    expect((await (await server.client().files.download('a', 'x')).bytes()).length).toBe(bytes.length);
    server.answer = refusal(404, { code: 'path_not_found', message: 'No.' });
    expect(await rejection(server.client().files.download('a', 'x'))).toBeInstanceOf(ServiceNotFoundError);
  });

  it('may take longer than its time-out, but no silence may', async () => {
    server.answer = (_, response) => {
      response.writeHead(200);
      let sent = 0;
      const timer = setInterval(() => {
        response.write('x');
        if (++sent < 8) return;
        clearInterval(timer);
        response.end();
      }, 50);
    };
    const slow = await server.client().files.download('a', 'x', { timeout: 250 });
    expect(await slow.text()).toBe('xxxxxxxx');
    server.answer = (_, response) => response.writeHead(200).write('x');
    const silent = await server.client().files.download('a', 'x', { timeout: 100 });
    expect(await rejection(silent.text())).toMatchObject({ code: 'timeout' });
    server.answer = () => undefined;
    expect(await rejection(server.client().files.download('a', 'x', { timeout: 100 }))).toMatchObject({
      code: 'timeout',
    });
  });

  it('ends at once with the reason of its signal', async () => {
    server.answer = (_, response) => response.writeHead(200).write('x');
    const controller = new AbortController();
    const download = await server.client().files.download('a', 'x', { signal: controller.signal });
    const read = rejection(download.bytes());
    const reason = new Error('enough');
    controller.abort(reason);
    expect(await read).toBe(reason);
  });
});

describe('saveTo', () => {
  it('writes a file, and replaces the one that a link names', async () => {
    server.answer = sends;
    const [path, link] = [join(folder, 'saved'), join(folder, 'link')];
    await writeFile(path, 'old');
    await symlink(path, link);
    await saveTo(link, await server.client().files.download('a', 'x'));
    expect(new Uint8Array(await readFile(path))).toEqual(bytes);
    await saveTo(pathToFileURL(join(folder, 'new')), await server.client().files.download('a', 'x'));
    expect((await readFile(join(folder, 'new'))).length).toBe(bytes.length);
  });

  it('leaves no file behind if it fails, and the old one as it was', async () => {
    server.answer = short;
    const path = join(folder, 'kept');
    await writeFile(path, 'old');
    const before = await readdir(folder);
    const error = await rejection(saveTo(path, await server.client().files.download('a', 'x')));
    expect(error).toBeInstanceOf(ServiceConnectionError);
    expect(await readFile(path, 'utf8')).toBe('old');
    await rejection(saveTo(folder, await server.client().files.download('a', 'x')));
    await rejection(saveTo(join(folder, 'no', 'such'), await server.client().files.download('a', 'x')));
    expect(await readdir(folder)).toEqual(before);
  });
});

/** The parts of a form by name, as a browser's parser reads them. */
const formOf = async ({ headers, body }: Received): Promise<Map<string, string | File>> => {
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': String(headers['content-type']) },
  }).formData();
  return new Map(form.entries());
};

async function* pieces(): AsyncGenerator<Uint8Array | string> {
  yield 'con';
  await Promise.resolve();
  yield new TextEncoder().encode('tent');
}

describe('an upload', () => {
  it.each<[string, () => UploadFile | Promise<UploadFile>]>([
    ['text', () => 'content'],
    ['bytes', () => new TextEncoder().encode('content')],
    ['an ArrayBuffer', () => new TextEncoder().encode('content').buffer],
    ['a Blob', () => new Blob(['content'])],
    ['a ReadableStream', () => new Blob(['content']).stream()],
    ['an async iterable', () => pieces()],
    ['a stream of Node', () => Readable.from([Buffer.from('con'), Buffer.from('tent')])],
    [
      'a path',
      async () => {
        await writeFile(join(folder, 'own name'), 'content');
        return fileFromPath(join(folder, 'own name'));
      },
    ],
  ])('sends %s as a form', async (_, make) => {
    server.answer = (_request, response) => json(response, 200, { ok: true, size: 7 });
    const file = await make();
    const { files, computers } = server.client();
    expect(await files.upload('a', file, { name: 'n.txt', destDir: 'in', message: 'Grüße' })).toEqual({
      ok: true,
      size: 7,
    });
    const form = await formOf(server.received[0] as Received);
    expect(form.get('dest_dir')).toBe('in');
    expect(form.get('message')).toBe('Grüße');
    const sent = form.get('file') as File;
    expect([sent.name, await sent.text()]).toEqual(['n.txt', 'content']);
    await computers.upload('c', 'x', await make());
    expect(server.received[1]).toMatchObject({ method: 'PUT', target: '/api/v1/computers/c/files?path=x' });
    expect(server.received[1]?.body.toString()).toBe('content');
    expect(server.received[1]?.headers['content-type']).toBe('application/octet-stream');
  });

  it("has the file's own name without another", async () => {
    const { files } = server.client();
    await writeFile(join(folder, 'named'), 'x');
    await files.upload('a', new File(['x'], 'file.txt'));
    await files.upload('a', fileFromPath(join(folder, 'named')));
    await files.upload('a', createReadStream(join(folder, 'named')));
    const names = await Promise.all(
      server.received.map(async (one) => ((await formOf(one)).get('file') as File).name),
    );
    expect(names).toEqual(['file.txt', 'named', 'named']);
  });

  it.each(['a "b".txt', 'Grüße 😀.txt', 'a\\b;c=d'])(
    'has the name %j, also as RFC 5987 writes it',
    async (name) => {
      await server.client().files.upload('a', 'x', { name });
      const [, extended = ''] =
        /filename\*=UTF-8''(\S+)\r\n/.exec(server.received[0]?.body.toString() ?? '') ?? [];
      expect(decodeURIComponent(extended)).toBe(name);
    },
  );

  it('without a folder sends none, and a folder that is no UTF-8 as bytes', async () => {
    await server.client().files.upload('a', 'x', { name: 'n' });
    await server.client().files.upload('a', 'x', { name: 'n', destDir: Uint8Array.of(255) });
    expect([...(await formOf(server.received[0] as Received)).keys()]).toEqual(['file']);
    expect((await formOf(server.received[1] as Received)).get('dest_dir_base64')).toBe('/w==');
  });

  it('rejects with what the stream of the caller throws, and with the file that does not exist', async () => {
    const failure = new Error('disk');
    async function* failing(): AsyncGenerator<Uint8Array> {
      yield new Uint8Array(10);
      await Promise.resolve();
      throw failure;
    }
    expect(await rejection(server.client().files.upload('a', failing(), { name: 'n' }))).toBe(failure);
    const missing = fileFromPath(join(folder, 'missing'));
    expect(await rejection(server.client().files.upload('a', missing))).toMatchObject({ code: 'ENOENT' });
    expect(server.received).toEqual([]);
  });

  it('reads a file of 100 MB as it is sent, and never much more than was sent', async () => {
    const size = 104_857_600;
    const piece = new Uint8Array(1_048_576);
    let [read, received, most] = [0, 0, 0];
    async function* large(): AsyncGenerator<Uint8Array> {
      for (; read < size; read += piece.length) {
        yield piece;
        await new Promise(setImmediate);
        most = Math.max(most, read - received);
      }
    }
    server.onRequest = (request, response) => {
      request.on('data', (chunk: Buffer) => (received += chunk.length));
      request.on('end', () => json(response, 200, { ok: true }));
      return true;
    };
    await server.client().files.upload('a', large(), { name: 'large' });
    expect(received).toBeGreaterThan(size);
    expect(most).toBeLessThan(20_000_000);
  });
});
