import { beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf, type ApiResponse } from './api.fixture.js';
import { Executions } from './executions.fixture.js';
import { Files } from './files.fixture.js';
import type { Stack } from './stack.fixture.js';

const CAP = 104_857_600;

/**
 * Lists and writes in agents over HTTP, and the size limit of files: the same guarantees for every layout of
 * the services.
 */
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

  const refused = (response: ApiResponse): readonly unknown[] => [response.status, codeOf(response)];
  const sh = async (command: string): Promise<string> => (await exec.run(command)).body.stdout;

  describe('a list', () => {
    it('of a fresh volume is empty and names its root', async () => {
      const { id } = await api.runningAgent({ templateId: 'blank' });
      const { status, body } = await new Files(stack, id).list();
      expect([status, body]).toEqual([200, { path: body.root, root: body.root, entries: [] }]);
      expect(body.root).toMatch(/^\//);
    });

    it('has exactly four members for each entry, is sorted by name and does not follow links', async () => {
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

    it('of a missing path returns 404, of a file 400', async () => {
      await files.write('plain', 'x');
      expect(refused(await files.list('nothing/there'))).toEqual([404, 'path_not_found']);
      expect(refused(await files.list('plain'))).toEqual([400, 'not_a_directory']);
    });

    it('of 10,000 entries has all of them, in order', async () => {
      await sh('mkdir many && cd many && seq -f %05g 1 10000 | xargs touch');
      const { entries } = (await files.list('many')).body;
      expect([entries.length, entries[0]?.name, entries.at(-1)?.name]).toEqual([10_000, '00001', '10000']);
      await files.delete('many');
    });
  });

  describe('a write', () => {
    it('creates parents, replaces the whole file, and returns its path and size', async () => {
      const { status, body } = await files.write('deep/er/text.txt', 'grüße\n');
      expect([status, body]).toEqual([200, { ok: true, path: `${root}/deep/er/text.txt`, size: 8 }]);
      await files.write(`${root}/deep/er/text.txt`, 'short');
      expect(await sh('cat deep/er/text.txt')).toBe('short');
      expect(await sh('stat -c %u deep/er/text.txt deep/er deep | sort -u; id -u')).toMatch(/^(\d+)\n\1\n$/);
    });

    it('accepts content before path, and any JSON string', async () => {
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
      ['content that is not a string', '{"path":"x","content":5}'],
      ['a truncated body', '{"path":"x","content":"abc'],
      ['a list instead of an object', '[]'],
    ])('with %s is 400', async (_what, body) => {
      const response = await files.raw('PUT', 'write', body, { 'content-type': 'application/json' });
      expect(refused(response)).toEqual([400, 'invalid_request']);
    });
  });

  describe('the limit of 100 MB', () => {
    it('allows a file of exactly this many bytes to be read, and none with one more, not even in part', async () => {
      await sh(`mkdir cap; truncate -s ${CAP} cap/whole`);
      const part = await files.download('cap/whole', { range: 'bytes=-2' });
      expect([part.status, part.headers.get('content-range')]).toEqual([
        206,
        `bytes ${CAP - 2}-${CAP - 1}/${CAP}`,
      ]);
      await sh('printf x >> cap/whole');
      for (const headers of [{}, { range: 'bytes=0-1' }]) {
        const response = await files.download('cap/whole', headers);
        expect([response.status, response.json]).toMatchObject([
          413,
          { detail: { code: 'payload_too_large', limitBytes: CAP } },
        ]);
      }
      await files.delete('cap');
    });
  });
};
