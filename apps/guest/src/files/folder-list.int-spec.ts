import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { GUEST_ROUTES } from '@berth/guest-protocol';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { entriesOf, FilesFixture, jsonOf, manyNames, refusalOf } from './__fixtures__/files.fixture.js';

describe('a list of an agent’s folder', () => {
  let files: FilesFixture;
  let held: number;

  beforeEach(async () => {
    files = await FilesFixture.open();
    held = files.held();
  });

  afterEach(async () => {
    await eventually(() => expect(files.held()).toBe(held));
    await files.destroy();
  });

  it('contains name, kind, size and time, sorted by name', async () => {
    for (const name of ['b', 'a', 'B', 'ab', '\u{1F600}', '\uFF5E', 'ä']) files.file(name, 'four');
    files.folder('folder');
    utimesSync(join(files.volume, 'a'), 0, 1_700_000_000.9);
    const response = await files.list();
    expect(response.headers['content-type']).toBe('application/json');
    expect(jsonOf(response)).toMatchObject({ path: files.volume, root: files.volume });
    expect(entriesOf(response).map(({ name }) => name)).toEqual([
      ...['B', 'a', 'ab', 'b', 'folder', 'ä', '\uFF5E', '\u{1F600}'],
    ]);
    expect(entriesOf(response)).toContainEqual({ name: 'a', isDir: false, size: 4, mtime: 1_700_000_000 });
    expect(entriesOf(response)).toContainEqual({
      name: 'folder',
      isDir: true,
      size: 0,
      mtime: expect.any(Number) as number,
    });
  });

  it('shows a symlink as itself, regardless of its target', async () => {
    mkdirSync(join(files.outside, 'far'));
    symlinkSync(join(files.outside, 'far'), join(files.volume, 'out'));
    symlinkSync('no-such', join(files.volume, 'dangling'));
    expect(entriesOf(await files.list())).toEqual([
      { name: 'dangling', isDir: false, size: 7, mtime: expect.any(Number) as number },
      { name: 'out', isDir: false, size: files.outside.length + 4, mtime: expect.any(Number) as number },
    ]);
  });

  it.each([
    ['absent', undefined],
    ['empty', ''],
    ['a dot', '.'],
    ['the root itself', 'ROOT'],
    ['the root with slashes', 'ROOT//./'],
    ['a detour', 'folder/../'],
  ])('accepts %s as the root', async (_, path) => {
    files.file('folder/inner');
    const response = await files.list(path?.replace('ROOT', files.volume));
    expect(jsonOf(response)).toMatchObject({ path: files.volume, entries: [{ name: 'folder' }] });
  });

  it('follows symlinks that stay inside, absolute or relative, and returns the resolved path', async () => {
    files.file('deep/folder/file');
    symlinkSync('deep/../deep/folder/', join(files.volume, 'relative'));
    symlinkSync(join(files.volume, 'deep/folder'), join(files.volume, 'absolute'));
    symlinkSync('../absolute', join(files.volume, 'deep/twice'));
    for (const path of ['deep/folder/', `${files.volume}/relative`, 'absolute', 'deep/twice']) {
      expect(jsonOf(await files.list(path))).toMatchObject({
        path: join(files.volume, 'deep/folder'),
        entries: [{ name: 'file' }],
      });
    }
  });

  it.each([
    ['of a missing entry', 'missing', 'not_found path_not_found'],
    ['of a missing entry in a missing folder', 'missing/too', 'not_found path_not_found'],
    ['of a file', 'file', 'invalid not_a_directory'],
    ['of an entry below a file', 'file/below', 'not_found path_not_found'],
    ['of the parent', '..', 'invalid path_outside_volume'],
    ['of a parent by a detour', 'folder/../../outside', 'invalid path_outside_volume'],
    ['of the root directory', '/', 'invalid path_outside_volume'],
    ['of a sibling folder whose name begins with its name', 'ROOT-2', 'invalid path_outside_volume'],
    ['of an outside folder', 'OUTSIDE', 'invalid path_outside_volume'],
    ['through an absolute symlink to the outside', 'out', 'invalid path_outside_volume'],
    ['through a relative symlink to the outside', 'up/outside', 'invalid path_outside_volume'],
    ['of a dangling symlink', 'dangling', 'not_found path_not_found'],
    ['of a symlink to itself', 'loop', 'invalid invalid_path'],
    ['with NUL', 'a\0b', 'invalid invalid_path'],
    ['of a name of 256 bytes', `${'ä'.repeat(128)}`, 'invalid invalid_path'],
    ['of a path of 4,097 bytes', 'x/'.repeat(2_048) + 'x', 'invalid invalid_path'],
  ])('%s is rejected', async (_, path, refusal) => {
    files.file('file');
    files.folder('folder');
    mkdirSync(`${files.volume}-2`);
    symlinkSync(files.outside, join(files.volume, 'out'));
    symlinkSync('..', join(files.volume, 'up'));
    symlinkSync('no-such', join(files.volume, 'dangling'));
    symlinkSync('loop', join(files.volume, 'loop'));
    const actualPath = path.replace('ROOT', files.volume).replace('OUTSIDE', files.outside);
    expect(refusalOf(await files.list(actualPath))).toBe(refusal);
  });

  it('accepts a name of 255 bytes', async () => {
    files.folder('n'.repeat(255));
    expect((await files.list('n'.repeat(255))).status).toBe(200);
  });

  it('shows a name that is not UTF-8 with replacement characters', async () => {
    writeFileSync(Buffer.concat([Buffer.from(`${files.volume}/bad-`), Buffer.from([0xff])]), 'xyz');
    expect(entriesOf(await files.list())).toMatchObject([{ name: 'bad-\uFFFD', size: 3 }]);
  });

  it('walks at most a thousand folders deep, and closes them all', async () => {
    const deep = Array.from({ length: 1_001 }, () => 'd').join('/');
    execFileSync('mkdir', ['-p', join(files.volume, deep)]);
    expect((await files.list(deep.slice(2))).status).toBe(200);
    expect(refusalOf(await files.list(deep))).toBe('invalid invalid_path');
  });

  it('is rejected for a folder that the file system protects', async () => {
    files.folder('closed');
    chmodSync(join(files.volume, 'closed'), 0);
    // Root may list it, other users get an error.
    const expected = process.getuid?.() === 0 ? '200' : 'forbidden not_readable';
    expect(refusalOf(await files.list('closed'))).toBe(expected);
    chmodSync(join(files.volume, 'closed'), 0o700);
  });

  it('is rejected before the guest has its agent', async () => {
    await files.guest.restart();
    expect(refusalOf(await files.list())).toBe('unavailable agent_unavailable');
    await files.put();
  });

  it('of 100,000 entries blocks no other request, and is complete and sorted', async () => {
    const folder = files.folder('many');
    manyNames(folder, 100_000);
    let listing = true;
    const pending = files.list('many').finally(() => (listing = false));
    const waits: number[] = [];
    while (listing) {
      // Measures the CPU time of the guest's thread: on a busy machine, the elapsed time depends on other processes.
      const since = process.threadCpuUsage();
      await files.guest.ask(GUEST_ROUTES.health);
      const { user, system } = process.threadCpuUsage(since);
      waits.push((user + system) / 1_000);
    }
    waits.sort((left, right) => left - right);
    expect(waits.length).toBeGreaterThan(50);
    expect(waits[Math.floor(waits.length * 0.99)]).toBeLessThan(50);
    const names = entriesOf(await pending).map(({ name }) => name);
    expect(names.join() === readdirSync(folder).sort().join()).toBe(true);
  }, 120_000);

  it('is abandoned when its reader disconnects', async () => {
    const folder = files.folder('many');
    manyNames(folder, 20_000);
    const left = new AbortController();
    const pending = files.ask(GUEST_ROUTES.listFiles, {
      query: { path: 'many' },
      signal: left.signal,
      onData: () => left.abort(),
    });
    await pending.catch(() => undefined);
    await eventually(() => expect(files.held()).toBe(held));
  });

  it('is rejected for too many concurrent readers, and available for the next', async () => {
    manyNames(files.folder('many'), 20_000);
    const left = new AbortController();
    const begun = Promise.withResolvers<undefined>();
    let reading = 0;
    const readers = Array.from({ length: 8 }, () =>
      files
        .ask(GUEST_ROUTES.listFiles, {
          query: { path: 'many' },
          signal: left.signal,
          pause: () => {
            if (++reading === 8) begun.resolve(undefined);
          },
        })
        .catch(() => undefined),
    );
    await begun.promise;
    expect(refusalOf(await files.list())).toBe('exhausted too_many_transfers');
    left.abort();
    await Promise.all(readers);
    await eventually(async () => expect((await files.list()).status).toBe(200));
  });

  it('works in a guest of the old generation too', async () => {
    await files.guest.restart('legacy');
    await files.put();
    expect((await files.list()).status).toBe(200);
    expect((await files.write({ kind: 'path', path: 'file' })).status).toBe(200);
    expect((await files.read('file')).body.toString()).toBe('new');
  });
});
