import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { AGENT, changeOf, FilesFixture, jsonOf, manyNames, refusalOf } from './__fixtures__/files.fixture.js';

describe('a change of an agent’s volume', () => {
  let files: FilesFixture;
  let held: number;

  beforeEach(async () => {
    files = await FilesFixture.open();
    held = files.held();
  });

  afterEach(async () => {
    await eventually(() => expect(files.held()).toBe(held));
    await eventually(() => expect(readdirSync(files.staging)).toEqual([]));
    await files.destroy();
  });

  const inVolume = (path: string): string => join(files.volume, path);
  const text = (path: string): string => readFileSync(inVolume(path), 'utf8');
  const ownerOf = (path: string): { readonly uid: number; readonly gid: number; readonly mode: number } => {
    const { uid, gid, mode } = lstatSync(inVolume(path));
    return { uid, gid, mode: mode & 0o7777 };
  };
  const agent = AGENT ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 };
  const put = async (path: string, content = 'new'): Promise<string> =>
    refusalOf(await files.write({ kind: 'path', path }, content));
  const make = async (path: string): Promise<string> => refusalOf(await files.change({ op: 'mkdir', path }));
  const move = async (from: string, to: string): Promise<string> =>
    refusalOf(await files.change({ op: 'move', from, to }));
  const remove = async (path: string): Promise<string> =>
    refusalOf(await files.change({ op: 'delete', path }));

  describe('by a file that is put', () => {
    it('creates its parent folders, all owned by the agent', async () => {
      const response = await files.write({ kind: 'path', path: 'a/b/../b/file' }, 'four');
      expect(changeOf(response)).toEqual({ path: inVolume('a/b/file'), name: 'file', size: 4 });
      expect(text('a/b/file')).toBe('four');
      expect(ownerOf('a')).toEqual({ ...agent, mode: 0o755 });
      expect(ownerOf('a/b')).toEqual({ ...agent, mode: 0o755 });
      expect(ownerOf('a/b/file')).toEqual({ ...agent, mode: 0o644 });
    });

    it('creates as many folders as a path can name', async () => {
      const path = `${Array.from({ length: 500 }, (_, index) => index).join('/')}/file`;
      expect(await put(path)).toBe('200');
      expect(text(path)).toBe('new');
    });

    it('keeps the mode of the replaced file, but not its setuid bit', async () => {
      files.file('script', 'old', 0o755);
      chmodSync(inVolume('script'), 0o6750);
      expect(await put('script')).toBe('200');
      expect(ownerOf('script')).toEqual({ ...agent, mode: 0o750 });
      expect(text('script')).toBe('new');
    });

    it('shows a reader the old or the new file, never anything else', async () => {
      const contents = ['old', 'new'].map((word) => word.repeat(100_000));
      files.file('file', contents[0]);
      const seen = new Set<string>();
      let writing = true;
      const writes = (async () => {
        for (let round = 0; round < 30; round++) await put('file', contents[round % 2]);
        writing = false;
      })();
      while (writing) {
        seen.add(text('file'));
        await new Promise(setImmediate);
      }
      await writes;
      expect([...seen].every((content) => contents.includes(content))).toBe(true);
      expect(seen.size).toBeGreaterThan(0);
    });

    it('does not change the replaced file where it has another name', async () => {
      files.file('file', 'old');
      execFileSync('ln', [inVolume('file'), join(files.outside, 'linked')]);
      expect(await put('file')).toBe('200');
      expect(readFileSync(join(files.outside, 'linked'), 'utf8')).toBe('old');
    });

    it('follows a symlink that points inside, whether or not its target exists', async () => {
      files.file('folder/target', 'old');
      symlinkSync('folder/target', inVolume('link'));
      symlinkSync(inVolume('folder/later'), inVolume('dangling'));
      expect(await put('link')).toBe('200');
      const response = await files.write({ kind: 'path', path: 'dangling' });
      expect(changeOf(response)).toMatchObject({ path: inVolume('folder/later'), name: 'later' });
      expect([text('folder/target'), text('folder/later')]).toEqual(['new', 'new']);
      expect(readlinkSync(inVolume('link'))).toBe('folder/target');
    });

    it('never follows a symlink that points outside', async () => {
      writeFileSync(join(files.outside, 'file'), 'old');
      symlinkSync(join(files.outside, 'file'), inVolume('to-file'));
      symlinkSync(join(files.outside, 'no-such'), inVolume('to-nothing'));
      symlinkSync('../outside', inVolume('to-folder'));
      for (const path of [
        'to-file',
        'to-nothing',
        'to-folder',
        'to-folder/new',
        '../outside/new',
        '/etc/new',
      ]) {
        expect(await put(path)).toBe('invalid path_outside_volume');
      }
      expect(readdirSync(files.outside)).toEqual(['file']);
      expect(readFileSync(join(files.outside, 'file'), 'utf8')).toBe('old');
    });

    it('is rejected in place of a folder, and replaces anything else', async () => {
      files.file('folder/inner');
      files.folder('empty');
      execFileSync('mkfifo', [inVolume('fifo')]);
      expect(await put('folder')).toBe('conflict path_exists');
      expect(await put('empty')).toBe('conflict path_exists');
      expect(await put('.')).toBe('conflict path_exists');
      expect(await put('')).toBe('invalid invalid_path');
      expect(await put('fifo')).toBe('200');
      expect(text('fifo')).toBe('new');
      expect(await put('fifo/below')).toBe('invalid not_a_directory');
    });

    it('is stored in a folder under the last segment of its name', async () => {
      const into = async (folder: string, name: string): Promise<string> => {
        const response = await files.write({ kind: 'folder', folder, name });
        return response.status === 200
          ? changeOf(response).path.slice(files.volume.length)
          : refusalOf(response);
      };
      expect(await into('made/now', 'file')).toBe('/made/now/file');
      expect(await into('', 'C:\\temp\\ü.txt')).toBe('/ü.txt');
      expect(await into(files.volume, '../../etc/passwd')).toBe('/passwd');
      expect(await into('made', '..')).toBe('invalid invalid_path');
      expect(await into('made', 'folder/')).toBe('invalid invalid_path');
      expect(await into('made', 'x'.repeat(256))).toBe('invalid invalid_path');
      expect(await into('made', 'now')).toBe('conflict path_exists');
      expect(await into('ü.txt', 'file')).toBe('invalid not_a_directory');
      expect(await into('..', 'file')).toBe('invalid path_outside_volume');
    });

    it('that is not staged is unknown', async () => {
      const target = { kind: 'path', path: 'file' } as const;
      expect(refusalOf(await files.change({ op: 'commit', stagedId: 'no_such', target }))).toBe(
        'not_found staged_file_unknown',
      );
    });
  });

  describe('by a file for the inbox', () => {
    const receive = async (name: string): Promise<string> => {
      const response = await files.write({ kind: 'inbox', name }, name);
      return response.status === 200
        ? changeOf(response).path.slice(files.volume.length)
        : refusalOf(response);
    };

    it('gets a name that is not taken', async () => {
      expect(await receive('a.tar.gz')).toBe('/inbox/a.tar.gz');
      expect(await receive('x/a.tar.gz')).toBe('/inbox/a.tar (2).gz');
      expect(await receive('.env')).toBe('/inbox/.env');
      expect(await receive('.env')).toBe('/inbox/.env (2)');
      const long = `${'ä'.repeat(125)}.txt`;
      expect(await receive(long)).toBe(`/inbox/${long}`);
      expect(await receive(long)).toBe(`/inbox/${'ä'.repeat(123)} (2).txt`);
      expect(ownerOf('inbox')).toEqual({ ...agent, mode: 0o755 });
      expect(ownerOf('inbox/.env')).toEqual({ ...agent, mode: 0o644 });
    });

    it('keeps each of many that arrive at once', async () => {
      const paths = await Promise.all(Array.from({ length: 40 }, () => receive('same.txt')));
      expect(new Set(paths).size).toBe(40);
      expect(readdirSync(inVolume('inbox'))).toHaveLength(40);
    });

    it('is rejected if the inbox is not a folder or is outside', async () => {
      files.file('inbox');
      expect(await receive('a')).toBe('conflict path_exists');
      execFileSync('rm', [inVolume('inbox')]);
      symlinkSync(files.outside, inVolume('inbox'));
      expect(await receive('a')).toBe('invalid path_outside_volume');
      expect(readdirSync(files.outside)).toEqual([]);
    });
  });

  describe('by a new folder', () => {
    it('creates it with its parents, and succeeds again if it exists', async () => {
      const response = await files.change({ op: 'mkdir', path: 'a/b' });
      expect(jsonOf(response)).toEqual({ path: inVolume('a/b'), name: 'b', size: 0 });
      expect(ownerOf('a/b')).toEqual({ ...agent, mode: 0o755 });
      expect(await make('a/b/')).toBe('200');
      expect(await make('.')).toBe('200');
    });

    it('is rejected on a file, below a file and outside', async () => {
      files.file('file');
      symlinkSync(join(files.outside, 'new'), inVolume('out'));
      expect(await make('file')).toBe('conflict path_exists');
      expect(await make('file/below')).toBe('invalid not_a_directory');
      expect(await make('out')).toBe('invalid path_outside_volume');
      expect(await make('../outside/new')).toBe('invalid path_outside_volume');
      expect(readdirSync(files.outside)).toEqual([]);
    });
  });

  describe('by a move', () => {
    it('moves files, folders and symlinks as they are', async () => {
      files.file('folder/file', 'content');
      symlinkSync('no-such', inVolume('link'));
      execFileSync('mkfifo', [inVolume('fifo')]);
      const response = await files.change({ op: 'move', from: 'folder/file', to: `${files.volume}/moved` });
      expect(changeOf(response)).toEqual({
        path: inVolume('moved'),
        from: inVolume('folder/file'),
        name: 'moved',
        size: 0,
      });
      expect(text('moved')).toBe('content');
      expect(await move('moved', 'folder/back')).toBe('200');
      expect(await move('folder', 'renamed')).toBe('200');
      expect(await move('link', 'renamed/link')).toBe('200');
      expect(await move('fifo', 'renamed/fifo')).toBe('200');
      expect(text('renamed/back')).toBe('content');
      expect(readlinkSync(inVolume('renamed/link'))).toBe('no-such');
      expect(readdirSync(files.volume)).toEqual(['renamed']);
    });

    it('keeps the other names of a file', async () => {
      files.file('one', 'content');
      execFileSync('ln', [inVolume('one'), inVolume('two')]);
      expect(await move('one', 'three')).toBe('200');
      expect([statSync(inVolume('three')).nlink, text('two')]).toEqual([2, 'content']);
    });

    it.each([
      ['missing', 'new', 'not_found source_not_found'],
      ['missing/too', 'new', 'not_found source_not_found'],
      ['file/below', 'new', 'not_found source_not_found'],
      ['missing', 'file', 'not_found source_not_found'],
      ['file', 'folder', 'conflict destination_exists'],
      ['folder', 'file', 'conflict destination_exists'],
      ['folder', 'empty', 'conflict destination_exists'],
      ['file', 'dangling', 'conflict destination_exists'],
      ['file', 'file', 'conflict destination_exists'],
      ['folder', 'folder/', 'conflict destination_exists'],
      ['file', '.', 'conflict destination_exists'],
      ['folder', 'folder/new', 'invalid move_into_itself'],
      ['folder', 'folder/missing/new', 'invalid move_into_itself'],
      ['folder', 'alias/new', 'invalid move_into_itself'],
      ['.', 'new', 'invalid volume_root'],
      ['folder/..', 'new', 'invalid volume_root'],
      ['file', 'missing/new', 'not_found path_not_found'],
      ['folder', 'file/new', 'invalid not_a_directory'],
      ['file', '../outside/new', 'invalid path_outside_volume'],
      ['../outside/file', 'new', 'invalid path_outside_volume'],
      ['out/file', 'new', 'invalid path_outside_volume'],
      ['', 'new', 'invalid invalid_path'],
    ])('of %s to %s is rejected as %s', async (from, to, refusal) => {
      files.file('file');
      files.file('folder/inner');
      files.folder('empty');
      symlinkSync('no-such', inVolume('dangling'));
      symlinkSync('folder', inVolume('alias'));
      symlinkSync(files.outside, inVolume('out'));
      writeFileSync(join(files.outside, 'file'), '');
      const folders = [files.guest.dir, inVolume('.'), files.outside];
      const everything = (): string =>
        execFileSync('find', [...folders, '-path', '*/pipes*', '-prune', '-o', '-printf', '%p %i\n'], {
          encoding: 'utf8',
        });
      const before = everything();
      expect(await move(from, to)).toBe(refusal);
      expect(everything()).toBe(before);
    });

    it('to one destination succeeds for one of many', async () => {
      for (let index = 0; index < 20; index++) files.file(`file-${index}`);
      const responses = await Promise.all(
        Array.from({ length: 20 }, (_, index) => move(`file-${index}`, 'there')),
      );
      expect(responses.filter((response) => response === '200')).toHaveLength(1);
      expect(responses.filter((response) => response === 'conflict destination_exists')).toHaveLength(19);
      expect(readdirSync(files.volume)).toHaveLength(20);
    });
  });

  describe('by a removal', () => {
    it('deletes files, symlinks and whole folders, and follows no symlink', async () => {
      files.file('file');
      files.file('folder/deep/file');
      writeFileSync(join(files.outside, 'file'), 'kept');
      symlinkSync(files.outside, inVolume('folder/out'));
      symlinkSync('folder', inVolume('link'));
      expect(jsonOf(await files.change({ op: 'delete', path: 'link' }))).toEqual({
        path: inVolume('link'),
        name: 'link',
        size: 0,
      });
      expect(existsSync(inVolume('folder/deep/file'))).toBe(true);
      expect([await remove('file'), await remove('folder/')]).toEqual(['200', '200']);
      expect(readdirSync(files.volume)).toEqual([]);
      await eventually(() => expect(readdirSync(files.staging)).toEqual([]));
      expect(readFileSync(join(files.outside, 'file'), 'utf8')).toBe('kept');
    });

    it.each([
      ['missing', 'not_found path_not_found'],
      ['file/below', 'not_found path_not_found'],
      ['.', 'invalid volume_root'],
      ['ROOT', 'invalid volume_root'],
      ['file/..', 'not_found path_not_found'],
      ['..', 'invalid path_outside_volume'],
      ['../outside', 'invalid path_outside_volume'],
      ['out/file', 'invalid path_outside_volume'],
      ['', 'invalid invalid_path'],
    ])('of %s is rejected as %s', async (path, refusal) => {
      files.file('file');
      symlinkSync(files.outside, inVolume('out'));
      writeFileSync(join(files.outside, 'file'), '');
      expect(await remove(path.replace('ROOT', files.volume))).toBe(refusal);
      expect(existsSync(inVolume('file')) && existsSync(join(files.outside, 'file'))).toBe(true);
    });

    it('of 20,000 files returns at once, and completes in the background', async () => {
      const folder = files.folder('many');
      for (let index = 0; index < 20; index++) {
        mkdirSync(join(folder, `${index}`));
        manyNames(join(folder, `${index}`), 1_000);
      }
      const since = process.threadCpuUsage();
      expect(await remove('many')).toBe('200');
      const { user, system } = process.threadCpuUsage(since);
      expect(user + system).toBeLessThan(100_000);
      expect(existsSync(folder)).toBe(false);
      await eventually(() => expect(readdirSync(files.staging)).toEqual([]), { timeoutMs: 20_000 });
    });

    it('of a folder deeper than any path, with names that are not UTF-8 and without permissions, leaves nothing', async () => {
      const script = "for (let i = 0; i < 3000; i++) { fs.mkdirSync('dddd'); process.chdir('dddd'); }";
      execFileSync(process.execPath, ['-e', script], { cwd: files.folder('deep') });
      writeFileSync(Buffer.concat([Buffer.from(`${files.volume}/deep/`), Buffer.from([0xff, 0xfe])]), '');
      mkdirSync(inVolume('deep/closed/inner'), { recursive: true });
      chmodSync(inVolume('deep/closed'), 0);
      expect(await remove('deep')).toBe('200');
      await eventually(() => expect(readdirSync(files.staging)).toEqual([]), { timeoutMs: 20_000 });
    });

    it('that the end of the guest interrupts is completed after its restart', async () => {
      const folder = files.folder('many');
      manyNames(folder, 5_000);
      expect(await remove('many')).toBe('200');
      await files.guest.restart();
      await files.put();
      await eventually(() => expect(readdirSync(files.staging)).toEqual([]), { timeoutMs: 20_000 });
      expect(files.held()).toBe(held);
    });
  });

  it.runIf(AGENT !== null)('works despite the modes of the agent’s own files', async () => {
    mkdirSync(inVolume('roots'), { mode: 0o700 });
    chownSync(inVolume('roots'), 0, 0);
    expect(await put('roots/file')).toBe('200');
    expect(ownerOf('roots')).toEqual({ uid: 0, gid: 0, mode: 0o700 });
  });
});
