import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { GUEST_ROUTES } from '@berth/guest-protocol';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AGENT, CAN_MOUNT, FilesFixture, jsonOf, LIMIT, refusalOf } from './__fixtures__/files.fixture.js';

const TEXT = '0123456789';
/** Only root can create files that the agent cannot read. */
const IS_ROOT = AGENT !== null;

describe('a file that is read', () => {
  let files: FilesFixture;
  let held: number;

  beforeEach(async () => {
    files = await FilesFixture.open();
    held = files.held();
    files.file('file', TEXT);
  });

  afterEach(async () => {
    await eventually(() => expect(files.held()).toBe(held));
    await files.destroy();
  });

  const etag = async (path = 'file'): Promise<string> =>
    (await files.read(path, { method: 'HEAD' })).headers.etag ?? '';

  it('is returned with its length, a strong entity tag and its modification time', async () => {
    utimesSync(join(files.volume, 'file'), 0, 1_700_000_000);
    const response = await files.read(join(files.volume, 'file'));
    expect(response).toMatchObject({
      status: 200,
      broken: false,
      headers: {
        'content-length': '10',
        'accept-ranges': 'bytes',
        'last-modified': 'Tue, 14 Nov 2023 22:13:20 GMT',
        etag: expect.stringMatching(/^"[\w-]{20,}"$/) as string,
      },
    });
    expect(response.body.toString()).toBe(TEXT);
  });

  it('is described without its bytes for a HEAD request', async () => {
    const response = await files.read('file', { method: 'HEAD', headers: { range: 'bytes=0-1' } });
    expect(response).toMatchObject({ status: 200, headers: { 'content-length': '10' } });
    expect(response.body).toHaveLength(0);
  });

  it('may be empty', async () => {
    files.file('empty', '');
    expect(await files.read('empty')).toMatchObject({ status: 200, headers: { 'content-length': '0' } });
  });

  it('is identical across many chunks', async () => {
    const bytes = Buffer.alloc(3_000_001, 'piece by piece');
    files.file('large', bytes);
    const response = await files.read('large', { query: { limit: 3_000_001 } });
    expect(response.body.equals(bytes)).toBe(true);
  });

  it.each([
    ['bytes=0-3', 206, '0123', 'bytes 0-3/10'],
    ['bytes=4-', 206, '456789', 'bytes 4-9/10'],
    ['bytes=-3', 206, '789', 'bytes 7-9/10'],
    ['bytes=-99', 206, TEXT, 'bytes 0-9/10'],
    ['bytes=8-99', 206, '89', 'bytes 8-9/10'],
    ['bytes=10-', 416, '', 'bytes */10'],
    ['bytes=-0', 416, '', 'bytes */10'],
    ['bytes=0-1,4-5', 200, TEXT, undefined],
    ['bytes=3-1', 200, TEXT, undefined],
    ['bytes=-', 200, TEXT, undefined],
    ['lines=0-1', 200, TEXT, undefined],
  ])('with the range %s is returned with status %i', async (range, status, text, contentRange) => {
    const response = await files.read('file', { headers: { range } });
    expect(response).toMatchObject({ status, broken: false });
    expect(response.body.toString()).toBe(text);
    expect(response.headers['content-range']).toBe(contentRange);
    expect(response.headers['content-length']).toBe(String(text.length));
  });

  it('is not sent again to a client that has it', async () => {
    const tag = await etag();
    for (const tags of [tag, '*', `"other", ${tag}`, `W/${tag}`]) {
      const response = await files.read('file', { headers: { 'if-none-match': tags, range: 'bytes=0-1' } });
      expect(response.status).toBe(304);
      expect(response.headers.etag).toBe(tag);
    }
    expect((await files.read('file', { headers: { 'if-none-match': '"other"' } })).status).toBe(200);
  });

  it('gets a new tag when it changes, regardless of its modification time', async () => {
    const path = join(files.volume, 'file');
    utimesSync(path, 0, 1_700_000_000);
    const tag = await etag();
    writeFileSync(path, TEXT.toUpperCase().replace('0', 'X'));
    utimesSync(path, 0, 1_700_000_000);
    expect(statSync(path).size).toBe(10);
    expect(await etag()).not.toBe(tag);
  });

  it('is resumed only if it is unchanged', async () => {
    utimesSync(join(files.volume, 'file'), 0, 1_700_000_000);
    const range = 'bytes=4-';
    const resume = async (validator: string): Promise<number> =>
      (await files.read('file', { headers: { range, 'if-range': validator } })).status;
    expect(await resume(await etag())).toBe(206);
    expect(await resume('Tue, 14 Nov 2023 22:13:20 GMT')).toBe(206);
    expect(await resume('"other"')).toBe(200);
    expect(await resume('Tue, 14 Nov 2023 22:13:21 GMT')).toBe(200);
    writeFileSync(join(files.volume, 'file'), TEXT);
    expect(await resume(new Date(statSync(join(files.volume, 'file')).mtimeMs).toUTCString())).toBe(200);
  });

  it('is rejected over the limit, whole or in ranges, and accepted at the limit', async () => {
    for (const headers of [{}, { range: 'bytes=0-1' }]) {
      const response = await files.read('file', { query: { limit: 9 }, headers });
      expect(refusalOf(response)).toBe('too_large payload_too_large');
      expect(jsonOf(response)).toMatchObject({ error: { context: { limitBytes: 9 } } });
    }
    expect((await files.read('file', { query: { limit: 10 } })).status).toBe(200);
  });

  it('breaks off when it shrinks, and never looks complete', async () => {
    const path = files.file('large', Buffer.alloc(40_000_000, 1));
    let cut = false;
    const response = await files.read('large', {
      query: { limit: 40_000_000 },
      onData: () => {
        if (!cut) truncateSync(path, 1_000);
        cut = true;
      },
    });
    expect(response).toMatchObject({ status: 200, broken: true });
    expect(response.body.length).toBeLessThan(40_000_000);
  });

  it('keeps the announced length when it grows', async () => {
    const path = files.file('large', Buffer.alloc(10_000_000, 1));
    const response = await files.read('large', {
      query: { limit: 10_000_000 },
      onData: () => appendFileSync(path, 'more'),
    });
    expect(response).toMatchObject({ broken: false, headers: { 'content-length': '10000000' } });
    expect(response.body).toHaveLength(10_000_000);
  });

  it('is closed when its reader disconnects', async () => {
    files.file('large', Buffer.alloc(40_000_000, 1));
    const left = new AbortController();
    const { signal } = left;
    const pending = files.read('large', { query: { limit: 40_000_000 }, signal, onData: () => left.abort() });
    await pending.catch(() => undefined);
    await eventually(() => expect(files.held()).toBe(held));
  });

  it('is rejected for too many concurrent readers, and available for the next', async () => {
    const path = files.file('large', Buffer.alloc(20_000_000, 1));
    const left = new AbortController();
    const begun = Promise.withResolvers<undefined>();
    let reading = 0;
    const readers = Array.from({ length: 64 }, () => {
      const call = files.ask(GUEST_ROUTES.readFile, {
        query: { path, within: 'volume', limit: 20_000_000 },
        signal: left.signal,
        pause: () => {
          if (++reading === 64) begun.resolve(undefined);
        },
      });
      return call.catch(() => undefined);
    });
    await begun.promise;
    expect(refusalOf(await files.read('file'))).toBe('exhausted too_many_transfers');
    left.abort();
    await Promise.all(readers);
    await eventually(async () => expect((await files.read('file')).status).toBe(200));
  });

  it.each(['agent', 'volume'])('within the %s must be a regular file', async (within) => {
    files.folder('folder');
    execFileSync('mkfifo', [join(files.volume, 'fifo')]);
    files.give(join(files.volume, 'fifo'));
    const socket = createServer().listen(join(files.volume, 'socket'));
    symlinkSync('fifo', join(files.volume, 'to-fifo'));
    const read = async (path: string): Promise<string> =>
      refusalOf(await files.read(path, { query: { within } }));
    expect(await read('folder')).toBe('invalid is_a_directory');
    expect(await read('')).toBe('invalid is_a_directory');
    expect(await read('fifo')).toBe('invalid not_a_file');
    expect(await read('to-fifo')).toBe('invalid not_a_file');
    expect(await read('socket')).toBe('invalid not_a_file');
    expect(await read('missing')).toBe('not_found path_not_found');
    expect(await read('missing/file')).toBe('not_found path_not_found');
    expect(await read('file/below')).toBe('not_found path_not_found');
    expect(await read('a\0b')).toBe('invalid invalid_path');
    socket.close();
  });

  it('anywhere inside the agent must not belong to the kernel', async () => {
    for (const path of [
      '/proc/self/environ',
      '/proc/1/root/etc/passwd',
      '/proc/version',
      '/dev/null',
      '/dev/zero',
    ]) {
      expect(refusalOf(await files.read(path))).toBe('invalid not_a_file');
    }
    expect(refusalOf(await files.read('/sys/kernel/notes'))).toBe('invalid not_a_file');
    expect(refusalOf(await files.read('/proc'))).toBe('invalid is_a_directory');
    symlinkSync('/proc/self/fd/0', join(files.volume, 'to-proc'));
    expect(refusalOf(await files.read('to-proc'))).toBe('invalid not_a_file');
  });

  it.runIf(CAN_MOUNT)('must not belong to the kernel on a nested mount either', async () => {
    const path = join(files.outside, 'version');
    writeFileSync(path, '');
    execFileSync('mount', ['--bind', '/proc/version', path]);
    try {
      expect(refusalOf(await files.read(path))).toBe('invalid not_a_file');
    } finally {
      execFileSync('umount', [path]);
    }
  });

  it('may be outside the volume only if the whole agent may be read', async () => {
    writeFileSync(join(files.outside, 'far'), 'far');
    symlinkSync(files.outside, join(files.volume, 'out'));
    for (const path of [
      join(files.outside, 'far'),
      '../outside/far',
      'out/far',
      '/../..' + files.outside + '/far',
    ]) {
      const response = await files.read(path);
      expect(response).toMatchObject({ status: 200 });
      expect(response.body.toString()).toBe('far');
      const inside = await files.read(path, { query: { within: 'volume' } });
      expect(refusalOf(inside)).toBe('invalid path_outside_volume');
    }
    symlinkSync(files.volume, join(files.outside, 'back'));
    expect((await files.read(`${files.outside}/back/../volume/file`)).body.toString()).toBe(TEXT);
  });

  it.runIf(IS_ROOT)('must be readable by the agent’s own user', async () => {
    const put = (path: string, mode: number, uid: number, gid: number): void => {
      writeFileSync(join(files.outside, path), 'canary');
      chownSync(join(files.outside, path), uid, gid);
      chmodSync(join(files.outside, path), mode);
    };
    const { uid = 0, gid = 0 } = AGENT ?? {};
    mkdirSync(join(files.outside, 'closed'), { mode: 0o700 });
    put('closed/open', 0o666, 0, 0);
    put('root-only', 0o600, 0, 0);
    put('group', 0o640, 0, gid);
    put('of-root-group', 0o640, 0, 0);
    put('not-owner', 0o077, uid, gid);
    put('not-group', 0o607, 0, gid);
    const read = async (path: string): Promise<string> =>
      refusalOf(await files.read(join(files.outside, path)));
    expect(await read('group')).toBe('200');
    for (const path of [
      'closed/open',
      'closed/missing',
      'root-only',
      'of-root-group',
      'not-owner',
      'not-group',
    ]) {
      expect(await read(path)).toBe('forbidden not_readable');
    }
    expect(refusalOf(await files.read('/etc/shadow'))).toBe('forbidden not_readable');
    linkSync(join(files.outside, 'root-only'), join(files.volume, 'linked'));
    const linked = await files.read('linked', { query: { within: 'volume' } });
    expect(refusalOf(linked)).toBe('forbidden not_readable');
  });

  it('needs a valid request', async () => {
    expect(refusalOf(await files.read('file', { query: { within: 'host' } }))).toBe(
      'invalid invalid_request',
    );
    expect(refusalOf(await files.read('file', { query: { limit: '-1' } }))).toBe('invalid invalid_request');
    expect((await files.read('file', { query: { limit: LIMIT } })).status).toBe(200);
  });
});
