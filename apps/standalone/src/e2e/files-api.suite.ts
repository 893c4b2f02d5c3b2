import { createHash, randomBytes } from 'node:crypto';
import { eventually } from '@berth/testing';
import { beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf, type Answer } from './api.fixture.js';
import { Executions } from './executions.fixture.js';
import { Files } from './files.fixture.js';
import type { Stack } from './stack.fixture.js';

const CAP = 104_857_600;

/** Files of agents over HTTP, rule by rule: the same guarantees however the services are laid out. */
export const describeFilesApi = (stack: () => Stack): void => {
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

  const refused = (answer: Answer): readonly unknown[] => [answer.status, codeOf(answer)];
  const sh = async (command: string): Promise<string> => (await exec.run(command)).body.stdout;

  describe('a list', () => {
    it('of a fresh volume is empty and names its root', async () => {
      const { id } = await api.runningAgent({ templateId: 'blank' });
      const { status, body } = await new Files(stack, id).list();
      expect([status, body]).toEqual([200, { path: body.root, root: body.root, entries: [] }]);
      expect(body.root).toMatch(/^\//);
    });

    it('has exactly four members for each entry, sorted by name, links not followed', async () => {
      await sh('mkdir -p ls/b; printf 12345 > ls/a; ln -s /etc/passwd ls/c; touch -d @1700000000 ls/a ls/b');
      const { body } = await files.list('ls');
      expect(body.path).toBe(`${root}/ls`);
      expect(body.entries).toEqual([
        { name: 'a', isDir: false, size: 5, mtime: 1_700_000_000 },
        { name: 'b', isDir: true, size: 0, mtime: 1_700_000_000 },
        { name: 'c', isDir: false, size: expect.any(Number), mtime: expect.any(Number) },
      ]);
      expect((await files.list(`${root}/ls`)).body).toEqual(body);
    });

    it('of nothing is 404, of a file 400', async () => {
      await files.write('plain', 'x');
      expect(refused(await files.list('nothing/there'))).toEqual([404, 'path_not_found']);
      expect(refused(await files.list('plain'))).toEqual([400, 'not_a_directory']);
    });

    it('of 100,000 entries keeps nobody waiting', async () => {
      await sh('mkdir many && cd many && seq -f %06g 1 100000 | xargs touch');
      const listed = files.list('many');
      let over = false;
      void listed.finally(() => (over = true)).catch(() => undefined);
      let meanwhile = 0;
      for (; !over; meanwhile++) await files.list('ls');
      const { entries } = (await listed).body;
      expect([entries.length, entries[0]?.name, entries.at(-1)?.name]).toEqual([100_000, '000001', '100000']);
      expect(meanwhile).toBeGreaterThan(1);
      await files.delete('many');
    }, 60_000);
  });

  describe('a write', () => {
    it('creates parents, replaces whole, and answers where and how much', async () => {
      const { status, body } = await files.write('deep/er/text.txt', 'grüße\n');
      expect([status, body]).toEqual([200, { ok: true, path: `${root}/deep/er/text.txt`, size: 8 }]);
      await files.write(`${root}/deep/er/text.txt`, 'short');
      expect(await sh('cat deep/er/text.txt')).toBe('short');
      expect(await sh('stat -c %u deep/er/text.txt deep/er deep | sort -u; id -u')).toMatch(/^(\d+)\n\1\n$/);
    });

    it('shows a reader the old file or the new one', async () => {
      const [a, b] = ['a'.repeat(300_000), 'b'.repeat(300_000)];
      await files.write('atomic', a);
      const reader = exec.run(
        'i=0; while [ $i -lt 40 ]; do tr -d "\\n" < atomic | fold -w1 | sort -u | tr -d "\\n"; echo; i=$((i+1)); done',
      );
      for (let round = 0; round < 15; round++) await files.write('atomic', round % 2 === 0 ? b : a);
      expect((await reader).body.stdout).toMatch(/^([ab]\n)+$/);
    });

    it('takes content before path, and whatever JSON can say', async () => {
      const content = '"\\\u0000\u0001\u2028😀\r\n\t/';
      const { status } = await files.raw(
        'PUT',
        'write',
        JSON.stringify({ content, extra: [1, { a: 2 }], path: 'odd' }),
        {
          'content-type': 'application/json',
        },
      );
      expect(status).toBe(200);
      expect((await files.download('odd')).bytes.toString('utf8')).toBe(content);
    });

    it.each([
      ['no path', '{"content":"x"}'],
      ['no content', '{"path":"x"}'],
      ['an empty path', '{"path":"","content":"x"}'],
      ['content that is no text', '{"path":"x","content":5}'],
      ['half of a body', '{"path":"x","content":"abc'],
      ['no object', '[]'],
    ])('with %s is 400', async (_what, body) => {
      const answer = await files.raw('PUT', 'write', body, { 'content-type': 'application/json' });
      expect(refused(answer)).toEqual([400, 'invalid_request']);
    });
  });

  describe('the cap of 100 MB', () => {
    it('passes exactly so many bytes and not one more, which leaves nothing', async () => {
      const bytes = Buffer.alloc(CAP, 'x');
      const whole = await files.upload(bytes, { name: 'whole', dest_dir: 'cap' });
      expect([whole.status, whole.body]).toMatchObject([200, { size: CAP }]);
      expect((await files.download('cap/whole')).bytes.equals(bytes)).toBe(true);
      const more = await files.upload(Buffer.concat([bytes, Buffer.from('x')]), {
        name: 'more',
        dest_dir: 'cap',
      });
      expect([more.status, more.body['detail']]).toMatchObject([
        413,
        { code: 'payload_too_large', limitBytes: CAP },
      ]);
      expect((await files.list('cap')).body.entries.map(({ name }) => name)).toEqual(['whole']);
      await sh('printf x >> cap/whole');
      for (const headers of [{}, { range: 'bytes=0-1' }]) {
        const answer = await files.download('cap/whole', headers);
        expect([answer.status, answer.json]).toMatchObject([
          413,
          { detail: { code: 'payload_too_large', limitBytes: CAP } },
        ]);
      }
      await files.delete('cap');
    }, 60_000);

    it('holds for written text, counted after decoding', async () => {
      const escaped = `${'\\u0078'.repeat(1000)}${'x'.repeat(CAP - 1000)}`;
      const whole = await files.raw('PUT', 'write', `{"path":"text","content":"${escaped}"}`, {
        'content-type': 'application/json',
      });
      expect([whole.status, whole.body]).toMatchObject([200, { size: CAP }]);
      const more = await files.raw('PUT', 'write', `{"path":"more","content":"${escaped}x"}`, {
        'content-type': 'application/json',
      });
      expect(refused(more)).toEqual([413, 'payload_too_large']);
      expect(refused(await files.list('more'))).toEqual([404, 'path_not_found']);
      await files.delete('text');
    }, 60_000);
  });

  describe('an upload', () => {
    it('into a folder makes it and puts the file exactly there, fields in any order', async () => {
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

    it('replaces a file of its name, and not a folder', async () => {
      await files.upload(Buffer.from('one'), { name: 'same', dest_dir: 'replace' });
      await files.upload(Buffer.from('two'), { name: 'same', dest_dir: 'replace' });
      expect(await sh('cat replace/same')).toBe('two');
      await files.mkdir('replace/folder');
      expect(refused(await files.upload(Buffer.from('x'), { name: 'folder', dest_dir: 'replace' }))).toEqual([
        409,
        'path_exists',
      ]);
    });

    it('is named by the last part of the path it came with', async () => {
      for (const name of ['../../etc/evil', 'C:\\temp\\evil', '/abs/evil']) {
        const { body } = await files.upload(Buffer.from('x'), { name, dest_dir: 'named' });
        expect(body['path']).toBe(`${root}/named/evil`);
      }
      expect((await files.upload(Buffer.from('x'), { name: '..', dest_dir: 'named' })).status).toBe(400);
    });

    it('that breaks off leaves nothing', async () => {
      await files.abortedUpload('broken', 'half');
      await eventually(async () =>
        expect(refused(await files.list('broken'))).toEqual([404, 'path_not_found']),
      );
      expect(await sh('find . -newer /proc/1 -name "*half*" | wc -l; ls -A | grep -c "^\\.berth"')).toBe(
        '0\n0\n',
      );
    });

    it('without a folder lands in the inbox under a name of its own, and the agent is told', async () => {
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

    it('to an agent that cannot be told stays in its inbox', async () => {
      const { status, body } = await files.upload(Buffer.from('kept'), {
        name: 'kept.txt',
        message: 'hello?',
      });
      expect([status, body]).toMatchObject([200, { ok: true, name: 'kept.txt' }]);
      expect(await sh('cat inbox/kept.txt')).toBe('kept');
    });

    it('under an Idempotency-Key is one upload, told apart by fields and content', async () => {
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

    it('without a file, or with no multipart at all, is a clear refusal', async () => {
      const form = new FormData();
      form.set('dest_dir', 'x');
      expect(refused(await files.form(form))).toEqual([400, 'invalid_request']);
      expect((await files.raw('POST', 'upload', '{}', { 'content-type': 'application/json' })).status).toBe(
        415,
      );
    });
  });

  describe('a download', () => {
    it('is the bytes with what a browser needs to leave them alone', async () => {
      const bytes = randomBytes(70_000);
      await files.upload(bytes, { name: 'plain', dest_dir: 'dl' });
      await files.move('dl/plain', 'dl/naïve "x".txt');
      const answer = await files.download('dl/naïve "x".txt');
      expect(answer.bytes.equals(bytes)).toBe(true);
      expect(Object.fromEntries(answer.headers)).toMatchObject({
        'content-length': '70000',
        'x-content-type-options': 'nosniff',
        'content-security-policy': 'sandbox',
        'content-disposition': expect.stringMatching(
          /^attachment; filename="na.ve .*"; filename\*=UTF-8''na%C3%AFve%20%22x%22\.txt$/,
        ),
        etag: expect.stringMatching(/^"/),
      });
      expect(answer.headers.get('content-type')).toMatch(/^text\/plain/);
    });

    it('answers parts, and says when there is no such part', async () => {
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

    it('reaches any path inside the agent that its own user may read, and no other', async () => {
      expect((await files.download('/etc/hostname')).status).toBe(200);
      if (process.getuid?.() !== 0) return;
      for (const path of ['/etc/shadow', `${stack().dataDir}/bootstrap-key`, '/root/.bashrc']) {
        const answer = await files.download(path);
        expect([path, answer.status, answer.json]).toMatchObject([
          path,
          403,
          { detail: { code: 'not_readable' } },
        ]);
      }
    });

    it.each([
      ['a folder', 'things', 400, 'is_a_directory'],
      ['a FIFO', 'things/fifo', 400, 'not_a_file'],
      ['a device', '/dev/zero', 400, 'not_a_file'],
      ['nothing', 'things/nothing', 404, 'path_not_found'],
      ['a link to nothing', 'things/dangling', 404, 'path_not_found'],
    ])('of %s (%s) is %d', async (_what, path, status, code) => {
      await sh('mkdir -p things; [ -e things/fifo ] || mkfifo things/fifo; ln -sfn nowhere things/dangling');
      const answer = await files.download(path);
      expect([answer.status, answer.json]).toMatchObject([status, { detail: { code } }]);
    });

    it('is lost by neither side: a caller that leaves frees the agent', async () => {
      await sh('head -c 50000000 /dev/zero > big');
      await files.abortedDownload('big');
      expect((await files.download('big')).bytes.length).toBe(50_000_000);
      await files.delete('big');
    });
  });

  describe('mkdir, move and delete', () => {
    it('mkdir makes parents, is fine with a folder and not with a file', async () => {
      expect((await files.mkdir('m/a/b')).body).toEqual({ ok: true, path: `${root}/m/a/b` });
      expect((await files.mkdir('m/a/b')).status).toBe(200);
      await files.write('m/file', 'x');
      expect(refused(await files.mkdir('m/file'))).toEqual([409, 'path_exists']);
    });

    it('move keeps what stands at its destination, and says what is missing', async () => {
      await files.write('mv/from', 'x');
      await files.write('mv/there', 'y');
      expect(refused(await files.move('mv/from', 'mv/there'))).toEqual([409, 'destination_exists']);
      expect(refused(await files.move('mv/from', 'mv/from'))).toEqual([409, 'destination_exists']);
      expect(refused(await files.move('mv/nothing', 'mv/new'))).toEqual([404, 'source_not_found']);
      expect(refused(await files.move('mv', 'mv/into/itself'))).toMatchObject([400, expect.any(String)]);
      expect((await files.move('.', 'elsewhere')).status).toBe(400);
      const moved = await files.move('mv/from', 'mv/to');
      expect([moved.status, moved.body]).toEqual([
        200,
        { ok: true, from: `${root}/mv/from`, to: `${root}/mv/to` },
      ]);
      expect(await sh('cat mv/there mv/to; ls mv')).toBe('yxthere\nto\n');
    });

    it('delete takes folders with all they hold, never the root, and says what is missing', async () => {
      await sh('mkdir -p del/a/b; touch del/a/b/c; ln -s /etc del/a/link');
      expect((await files.delete('del')).body).toEqual({ ok: true, path: `${root}/del` });
      expect(refused(await files.delete('del'))).toEqual([404, 'path_not_found']);
      for (const path of ['.', '/', root, `${root}/`, 'a/..']) {
        await files.mkdir('a');
        const answer = await files.delete(path);
        expect([path, answer.status]).toEqual([path, 400]);
      }
      expect(refused(await files.delete(root))).toEqual([400, 'volume_root']);
      expect(await sh('ls /etc/passwd')).toBe('/etc/passwd\n');
    });
  });

  describe('the walls', () => {
    it('no path leads out, by .., from the root, or by links', async () => {
      await sh(
        'mkdir -p w walled; ln -sfn /etc w/etc; ln -sfn ../../../../etc w/up; ln -sfn /etc/passwd w/passwd; ln -sfn /tmp/new-file w/dangling',
      );
      const out = ['../x', 'w/../../x', '/etc/x', 'w/etc/x', 'w/up/x', '/'];
      for (const path of out) {
        for (const answer of [
          await files.write(path, 'evil'),
          await files.mkdir(path),
          await files.move(path, 'w/got'),
          await files.move('walled', `${path}/got`),
          await files.upload(Buffer.from('evil'), { name: 'evil', dest_dir: path }),
        ]) {
          expect([path, ...refused(answer)]).toEqual([
            path,
            400,
            path === '/' ? expect.any(String) : 'path_outside_volume',
          ]);
        }
      }
      for (const path of ['w/passwd', 'w/dangling']) {
        expect(refused(await files.write(path, 'evil'))).toEqual([400, 'path_outside_volume']);
      }
      for (const path of ['..', '/etc', 'w/etc', 'w/up']) {
        expect(refused(await files.list(path))).toEqual([400, 'path_outside_volume']);
      }
      expect(refused(await files.delete('w/etc/passwd'))).toEqual([400, 'path_outside_volume']);
      expect((await files.delete('w/etc')).status).toBe(200);
      expect(await sh('ls /etc/passwd; ls /tmp/new-file 2>/dev/null')).toBe('/etc/passwd\n');
    });

    it('names that are none are 400', async () => {
      for (const path of [`x/${'a'.repeat(256)}`, `x/${'ü'.repeat(128)}`, 'a\0b']) {
        for (const answer of [
          await files.write(path, 'x'),
          await files.mkdir(path),
          await files.list(path),
          await files.delete(path),
        ]) {
          expect(refused(answer)).toEqual([400, 'invalid_path']);
        }
      }
      expect((await files.write(`x/${'a'.repeat(255)}`, 'x')).status).toBe(200);
    });
  });

  describe('an agent', () => {
    it('is woken by every file call', async () => {
      const { id } = await api.runningAgent({ templateId: 'blank' });
      const own = new Files(stack, id);
      await own.write('a', 'x');
      for (const call of [
        () => own.list(),
        () => own.download('a'),
        () => own.write('b', 'x'),
        () => own.mkdir('c'),
        () => own.move('b', 'd'),
        () => own.delete('d'),
        () => own.upload(Buffer.from('x'), { name: 'e', dest_dir: 'f' }),
      ]) {
        await api.post(`/api/agents/${id}/sleep`);
        expect((await call()).status).toBe(200);
        expect((await api.get(`/api/agents/${id}`)).body['state']).toBe('running');
      }
    });

    it('that is stopped is 409 agent_stopped for every file call, and one that is not there 404', async () => {
      const { id } = await api.runningAgent({ templateId: 'blank' });
      await api.post(`/api/agents/${id}/stop`);
      const calls = (own: Files) => [
        own.list(),
        own.write('b', 'x'),
        own.mkdir('c'),
        own.move('b', 'd'),
        own.delete('d'),
        own.upload(Buffer.from('x'), { name: 'e' }),
      ];
      for (const answer of await Promise.all(calls(new Files(stack, id)))) {
        expect(refused(answer)).toEqual([409, 'agent_stopped']);
      }
      for (const answer of await Promise.all(calls(new Files(stack, 'agt_01jd2m3k4n5p6q7r8s9t0v1w2x')))) {
        expect(refused(answer)).toEqual([404, 'agent_not_found']);
      }
    });
  });
};
