import { createHash, randomBytes } from 'node:crypto';
import { eventually } from '@berth/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf, type ApiResponse } from './api.fixture.js';
import { Executions } from './executions.fixture.js';
import { Files } from './files.fixture.js';
import type { Stack } from './stack.fixture.js';

/** Uploads to agents and downloads from them, rule by rule. */
export const describeFileTransfers = (stack: () => Stack): void => {
  const api = new Api(stack);
  let files: Files;
  let exec: Executions;
  let root: string;

  beforeAll(async () => {
    const { id } = await api.runningAgent({ templateId: 'blank' });
    files = new Files(stack, id);
    exec = new Executions(api, id);
    root = (await files.list()).body.root;
  });

  const refused = (response: ApiResponse): readonly unknown[] => [response.status, codeOf(response)];
  const sh = async (command: string): Promise<string> => (await exec.run(command)).body.stdout;

  describe('an upload', () => {
    it('into a folder creates it and puts the file exactly there, with fields in any order', async () => {
      const bytes = randomBytes(100_000);
      for (const order of ['before', 'after'] as const) {
        const { status, body } = await files.upload(bytes, {
          name: 'data.bin',
          dest_dir: `up/${order}`,
          order,
        });
        expect([status, body]).toEqual([
          200,
          { ok: true, path: `${root}/up/${order}/data.bin`, name: 'data.bin', size: 100_000 },
        ]);
        const digest = createHash('sha256').update(bytes).digest('hex');
        expect(await sh(`sha256sum up/${order}/data.bin`)).toContain(digest);
      }
    });

    it('replaces a file of its name, but not a folder', async () => {
      await files.upload(Buffer.from('one'), { name: 'same', dest_dir: 'replace' });
      await files.upload(Buffer.from('two'), { name: 'same', dest_dir: 'replace' });
      expect(await sh('cat replace/same')).toBe('two');
      await files.mkdir('replace/folder');
      expect(refused(await files.upload(Buffer.from('x'), { name: 'folder', dest_dir: 'replace' }))).toEqual([
        409,
        'path_exists',
      ]);
    });

    it('is named by the last segment of the path in its filename', async () => {
      for (const name of ['../../etc/evil', 'C:\\temp\\evil', '/abs/evil']) {
        const { body } = await files.upload(Buffer.from('x'), { name, dest_dir: 'named' });
        expect(body['path']).toBe(`${root}/named/evil`);
      }
      expect((await files.upload(Buffer.from('x'), { name: '..', dest_dir: 'named' })).status).toBe(400);
    });

    it('that is aborted leaves nothing', async () => {
      await files.abortedUpload('broken', 'half');
      await eventually(async () =>
        expect(refused(await files.list('broken'))).toEqual([404, 'path_not_found']),
      );
      expect(await sh('find . -newer /proc/1 -name "*half*" | wc -l; ls -A | grep -c "^\\.berth"')).toBe(
        '0\n0\n',
      );
    });

    it('without a folder goes to the inbox under a unique name, and the agent is notified', async () => {
      const { id } = await api.runningAgent({ templateId: 'probe' });
      const own = new Files(stack, id);
      const first = await own.upload(Buffer.from('1'), { name: 'note.txt', message: 'read this' });
      const second = await own.upload(Buffer.from('2'), { name: 'note.txt', dest_dir: '' });
      expect(first.body).toMatchObject({ ok: true, name: 'note.txt', size: 1 });
      expect(String(first.body['path'])).toMatch(/\/inbox\/note\.txt$/);
      expect(second.body['path']).not.toBe(first.body['path']);
      await eventually(async () => {
        const { body } = await api.chat(id, 'attachments');
        expect(JSON.parse(body.response)).toMatchObject([
          { message: 'read this', attachments: [{ path: first.body['path'], name: 'note.txt', size: 1 }] },
          { attachments: [{ path: second.body['path'] }] },
        ]);
      });
    });

    it('to an agent that cannot be notified stays in its inbox', async () => {
      const { status, body } = await files.upload(Buffer.from('kept'), {
        name: 'kept.txt',
        message: 'hello?',
      });
      expect([status, body]).toMatchObject([200, { ok: true, name: 'kept.txt' }]);
      expect(await sh('cat inbox/kept.txt')).toBe('kept');
    });

    it('under an Idempotency-Key is stored once; other fields or content are another request', async () => {
      const headers = { 'idempotency-key': crypto.randomUUID() };
      const one = await files.upload(Buffer.from('a'), { name: 'idem', headers });
      const again = await files.upload(Buffer.from('a'), { name: 'idem', headers });
      expect([again.status, again.body, again.headers.get('idempotent-replayed')]).toEqual([
        200,
        one.body,
        'true',
      ]);
      const other = await files.upload(Buffer.from('b'), { name: 'idem', headers });
      expect(refused(other)).toEqual([409, 'idempotency_key_reused']);
      expect(await sh('ls inbox | grep -c idem')).toBe('1\n');
    });

    it('without a file, or without multipart, returns a clear error', async () => {
      const form = new FormData();
      form.set('dest_dir', 'x');
      expect(refused(await files.form(form))).toEqual([400, 'invalid_request']);
      expect((await files.raw('POST', 'upload', '{}', { 'content-type': 'application/json' })).status).toBe(
        415,
      );
    });
  });

  describe('a download', () => {
    it('returns the bytes with headers that keep a browser from interpreting them', async () => {
      const bytes = randomBytes(70_000);
      await files.upload(bytes, { name: 'plain', dest_dir: 'dl' });
      await files.move('dl/plain', 'dl/naïve "x".txt');
      const response = await files.download('dl/naïve "x".txt');
      expect(response.bytes.equals(bytes)).toBe(true);
      expect(Object.fromEntries(response.headers)).toMatchObject({
        'content-length': '70000',
        'x-content-type-options': 'nosniff',
        'content-security-policy': 'sandbox',
        'content-disposition': expect.stringMatching(
          /^attachment; filename="na.ve .*"; filename\*=UTF-8''na%C3%AFve%20%22x%22\.txt$/,
        ),
        etag: expect.stringMatching(/^"/),
      });
      expect(response.headers.get('content-type')).toMatch(/^text\/plain/);
    });

    it('serves ranges, and reports an unsatisfiable one', async () => {
      await files.write('range', '0123456789');
      const part = async (range: string, more: Record<string, string> = {}) => {
        const { status, bytes, headers } = await files.download('range', { range, ...more });
        return [status, bytes.toString().slice(0, 10), headers.get('content-range')];
      };
      expect(await part('bytes=2-4')).toEqual([206, '234', 'bytes 2-4/10']);
      expect(await part('bytes=7-')).toEqual([206, '789', 'bytes 7-9/10']);
      expect(await part('bytes=-3')).toEqual([206, '789', 'bytes 7-9/10']);
      expect((await part('bytes=10-'))[0]).toBe(416);
      expect((await part('bytes=10-'))[2]).toBe('bytes */10');
      const etag = (await files.download('range')).headers.get('etag') ?? '';
      expect(await part('bytes=0-0', { 'if-range': etag })).toEqual([206, '0', 'bytes 0-0/10']);
      expect((await part('bytes=0-0', { 'if-range': '"other"' }))[0]).toBe(200);
      expect((await files.download('range', { 'if-none-match': etag })).status).toBe(304);
      await files.write('range', '9876543210');
      expect((await files.download('range')).headers.get('etag')).not.toBe(etag);
    });

    it('can read any path inside the agent that the user of the agent can read, and no other', async () => {
      expect((await files.download('/etc/hostname')).status).toBe(200);
      if (process.getuid?.() !== 0) return;
      for (const path of ['/etc/shadow', '/root/.bashrc']) {
        const { status, json } = await files.download(path);
        expect([path, status, json]).toMatchObject([path, 403, { detail: { code: 'not_readable' } }]);
      }
      // Absent inside, unless agents see this folder of the host.
      expect([403, 404]).toContain((await files.download(`${stack().dataDir}/bootstrap-key`)).status);
    });

    it.each([
      ['a folder', 'things', 400, 'is_a_directory'],
      ['a FIFO', 'things/fifo', 400, 'not_a_file'],
      ['a device', '/dev/zero', 400, 'not_a_file'],
      ['nothing', 'things/nothing', 404, 'path_not_found'],
      ['a link to nothing', 'things/dangling', 404, 'path_not_found'],
    ])('of %s (%s) is %d', async (_what, path, status, code) => {
      await sh('mkdir -p things; [ -e things/fifo ] || mkfifo things/fifo; ln -sfn nowhere things/dangling');
      const response = await files.download(path);
      expect([response.status, response.json]).toMatchObject([status, { detail: { code } }]);
    });

    it('that its caller aborts releases the agent', async () => {
      await sh('head -c 20000000 /dev/zero > big');
      await files.abortedDownload('big');
      expect((await files.download('big')).bytes.length).toBe(20_000_000);
      await files.delete('big');
    });
  });
};
