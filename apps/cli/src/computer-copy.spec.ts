import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import {
  berth,
  dataFolder,
  type RecordedRequest,
  type ServiceResponse,
} from './recording-service.fixture.js';

const id = newId('cmp');

/** A computer with these files, by their paths. */
const filesOf = (files: Readonly<Record<string, string>>) => {
  const stored = new Map(Object.entries(files));
  const respond = ({ method, url, body }: RecordedRequest): ServiceResponse => {
    const { pathname, searchParams } = new URL(url, 'http://berth');
    const path = searchParams.get('path') ?? '';
    if (pathname.endsWith('/files/list')) return listOf(stored, path.replace(/\/$/, ''));
    if (method === 'PUT') {
      stored.set(path, String(body ?? ''));
      return { status: 200, body: { ok: true } };
    }
    const content = stored.get(path);
    return content === undefined ? notFound : { status: 200, body: Buffer.from(content) };
  };
  return { stored, respond };
};

const notFound = { status: 404, body: { detail: { code: 'path_not_found', message: 'Nothing is there.' } } };

const listOf = (stored: ReadonlyMap<string, string>, folder: string): ServiceResponse => {
  const below = [...stored.keys()].flatMap((path) => {
    if (folder === '') return [path];
    return path.startsWith(`${folder}/`) ? [path.slice(folder.length + 1)] : [];
  });
  if (below.length === 0 && folder !== '') return notFound;
  const names = new Set(below.map((path) => path.split('/')[0] ?? ''));
  const entries = [...names].map((name) => ({ name, isDir: !below.includes(name) }));
  return { status: 200, body: { path: folder, root: '/home', entries } };
};

describe('berth computers cp to a computer', () => {
  it('writes a file under the name that is given, or into the folder that is there', async () => {
    const folder = await dataFolder();
    await writeFile(join(folder, 'note.txt'), 'hello');
    const { stored, respond } = filesOf({ 'Documents/old.txt': 'old' });
    for (const target of ['other.txt', 'Documents', 'new/', '', '/tmp'])
      expect(
        await berth(['computers', 'cp', join(folder, 'note.txt'), `${id}:${target}`], { respond }),
      ).toMatchObject({ exitCode: 0, out: '' });
    expect([...stored.keys()]).toEqual([
      ...['Documents/old.txt', 'other.txt', 'Documents/note.txt', 'new/note.txt', 'note.txt', '/tmp'],
    ]);
    expect(stored.get('Documents/note.txt')).toBe('hello');
  });

  it('writes folders with -r only, and what comes from a pipe', async () => {
    const folder = await dataFolder();
    await mkdir(join(folder, 'deep'));
    await writeFile(join(folder, 'deep', 'one.txt'), '1');
    await writeFile(join(folder, 'two.txt'), '');
    const { stored, respond } = filesOf({});
    expect(await berth(['computers', 'cp', folder, `${id}:copy`], { respond })).toMatchObject({
      exitCode: 2,
      err: expect.stringContaining('-r'),
    });
    await berth(['computers', 'cp', '-r', folder, `${id}:copy`], { respond });
    await berth(['computers', 'cp', '-', `${id}:piped.txt`], { respond, input: 'from a pipe' });
    expect(Object.fromEntries(stored)).toEqual({
      'copy/deep/one.txt': '1',
      'copy/two.txt': '',
      'piped.txt': 'from a pipe',
    });
  });

  it('shows its progress on a terminal', async () => {
    const file = join(await dataFolder(), 'note.txt');
    await writeFile(file, 'x'.repeat(1_048_576));
    const { err } = await berth(['computers', 'cp', file, `${id}:note.txt`], { ...filesOf({}), isTTY: true });
    expect(err).toMatch(/note\.txt {2}100 % {2}1\.0 of 1\.0 MiB/);
  });
});

describe('berth computers cp from a computer', () => {
  const { respond } = filesOf({ 'a/one.txt': '1', 'a/b/two.txt': '2', 'three.txt': '3' });

  it('writes a file under the name that is given, into a folder that is there, or to a pipe', async () => {
    const folder = await dataFolder();
    for (const target of [join(folder, 'new', 'name.txt'), folder])
      await berth(['computers', 'cp', `${id}:three.txt`, target], { respond });
    expect(await readFile(join(folder, 'new', 'name.txt'), 'utf8')).toBe('3');
    expect(await readFile(join(folder, 'three.txt'), 'utf8')).toBe('3');
    expect(await berth(['computers', 'cp', `${id}:a/one.txt`, '-'], { respond })).toMatchObject({ out: '1' });
  });

  it('writes folders with -r only', async () => {
    const folder = await dataFolder();
    expect((await berth(['computers', 'cp', `${id}:a`, folder], { respond })).exitCode).toBe(2);
    expect(await readdir(folder)).toEqual([]);
    await berth(['computers', 'cp', '-r', `${id}:a`, folder], { respond });
    expect((await readdir(folder, { recursive: true })).sort()).toEqual([
      ...['a', 'a/b', 'a/b/two.txt', 'a/one.txt'],
    ]);
  });

  it('leaves no file behind that is not whole, and replaces no folder', async () => {
    const folder = await dataFolder();
    await mkdir(join(folder, 'three.txt'));
    const refused = await berth(['computers', 'cp', `${id}:three.txt`, folder], { respond });
    expect(refused).toMatchObject({ exitCode: 1, err: expect.stringContaining('is a folder') });
    const short = await berth(['computers', 'cp', `${id}:big`, join(folder, 'big')], {
      respond: ({ url }) =>
        url.includes('/list')
          ? notFound
          : {
              status: 200,
              body: Buffer.from('half'),
              headers: { 'content-length': '8', connection: 'close' },
            },
    });
    expect(short.exitCode).not.toBe(0);
    expect(await readdir(folder)).toEqual(['three.txt']);
  });

  it('never writes outside the folder, whatever names the computer has', async () => {
    const folder = await dataFolder();
    const entries = ['..', '../../evil', '/etc/evil', 'good.txt'].map((name) => ({ name, isDir: false }));
    await berth(['computers', 'cp', '-r', `${id}:a`, join(folder, 'into')], {
      respond: ({ url }) =>
        url.includes('/list')
          ? { status: 200, body: { entries } }
          : { status: 200, body: Buffer.from('content') },
    });
    expect((await readdir(folder, { recursive: true })).sort()).toEqual(['into', 'into/good.txt']);
  });
});

describe('berth computers cp', () => {
  it.each([
    ['a:x', 'b:y'],
    ['./a:x', './b:y'],
    ['/a:x', 'b'],
    ['-', '-'],
  ])('exits 2 and sends nothing unless exactly one side is a computer: %s %s', async (source, target) => {
    expect(await berth(['computers', 'cp', source, target])).toMatchObject({ exitCode: 2, seen: [] });
  });
});
