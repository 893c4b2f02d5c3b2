import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CAN_MOUNT, FilesFixture, jsonOf, refusalOf } from './__fixtures__/files.fixture.js';
import { holdFolder, type Descriptor } from './descriptor.js';
import { STAGED_FOR_MS, StagedUploads } from './staged-uploads.js';

const MEGABYTE = 1024 * 1024;

describe('a staged file', () => {
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

  const commit = async (stagedId: string): Promise<string> =>
    refusalOf(await files.change({ op: 'commit', stagedId, target: { kind: 'path', path: 'file' } }));

  it('is kept complete and owned by the guest until it is put', async () => {
    const bytes = Buffer.alloc(5 * MEGABYTE + 7, 'not all alike ');
    const response = await files.stage('stg_1', Readable.from(pieces(bytes, 50_001)), bytes.length);
    expect(jsonOf(response)).toEqual({ stagedId: 'stg_1', size: bytes.length });
    expect(lstatSync(join(files.staging, 'stg_1'))).toMatchObject({
      uid: process.getuid?.(),
      mode: 0o100600,
    });
    expect(await commit('stg_1')).toBe('200');
    expect(readFileSync(join(files.volume, 'file')).equals(bytes)).toBe(true);
    expect(readdirSync(files.staging)).toEqual([]);
    expect(await commit('stg_1')).toBe('not_found staged_file_unknown');
  });

  it('may be empty', async () => {
    expect(jsonOf(await files.stage('stg_1', ''))).toEqual({ stagedId: 'stg_1', size: 0 });
    expect(await commit('stg_1')).toBe('200');
  });

  it.each([
    ['announced in advance', Buffer.alloc(1_001)],
    ['found while reading', 'stream'],
  ])(
    'may have up to the maximum size; one byte more, %s, is rejected and leaves nothing',
    async (_, body) => {
      expect((await files.stage('stg_1', Buffer.alloc(1_000), 1_000)).status).toBe(200);
      const longer = body === 'stream' ? Readable.from(pieces(Buffer.alloc(1_001), 100)) : (body as Buffer);
      const response = await files.stage('stg_2', longer, 1_000);
      expect(refusalOf(response)).toBe('too_large payload_too_large');
      expect(jsonOf(response)).toMatchObject({ error: { context: { limitBytes: 1_000 } } });
      await eventually(() => expect(readdirSync(files.staging)).toEqual(['stg_1']));
    },
  );

  it('that is interrupted leaves nothing', async () => {
    const half = new Readable({ read: () => undefined });
    half.push(Buffer.alloc(3 * MEGABYTE));
    const sent = files.stage('stg_1', half, 10 * MEGABYTE).catch((error: Error) => error.message);
    await eventually(() => expect(lstatSync(join(files.staging, 'stg_1')).size).toBeGreaterThan(0));
    expect(await commit('stg_1')).toBe('not_found staged_file_unknown');
    files.hangUp();
    expect(await sent).toMatch(/hang up|reset/);
    await eventually(() => expect(readdirSync(files.staging)).toEqual([]));
  });

  it('is gone after it is discarded, and discarding it again succeeds', async () => {
    await files.stage('stg_1', 'content');
    for (const stagedId of ['stg_1', 'stg_1', 'no_such']) {
      expect(jsonOf(await files.change({ op: 'discard', stagedId }))).toEqual({
        path: '',
        name: '',
        size: 0,
      });
    }
    await eventually(() => expect(readdirSync(files.staging)).toEqual([]));
  });

  it('stays if it could not be put, so that it can be put elsewhere', async () => {
    files.folder('file');
    await files.stage('stg_1', 'content');
    expect(await commit('stg_1')).toBe('conflict path_exists');
    execFileSync('rmdir', [join(files.volume, 'file')]);
    expect(await commit('stg_1')).toBe('200');
  });

  it('does not outlive its guest, like everything else in the staging folder', async () => {
    await files.stage('stg_1', 'content');
    mkdirSync(join(files.staging, 'half/done'), { recursive: true });
    writeFileSync(Buffer.concat([Buffer.from(`${files.staging}/`), Buffer.from([0xff])]), '');
    await files.restart();
    expect(await commit('stg_1')).toBe('not_found staged_file_unknown');
    await eventually(() => expect(readdirSync(files.staging)).toEqual([]));
    expect((await files.stage('stg_1', 'again')).status).toBe(200);
  });

  it('has an id that is a plain name and unique', async () => {
    for (const id of ['', '../volume/file', 'a/b', '.', 'x'.repeat(65), 'ä']) {
      expect(refusalOf(await files.stage(id, 'content'))).toBe('invalid invalid_request');
    }
    expect((await files.stage('stg_1', 'one')).status).toBe(200);
    expect(refusalOf(await files.stage('stg_1', 'two'))).toBe('conflict staged_file_exists');
    await commit('stg_1');
    expect(readFileSync(join(files.volume, 'file'), 'utf8')).toBe('one');
  });
});

describe('a staging folder', () => {
  it('deletes after ten minutes what has not been put', async () => {
    const files = await FilesFixture.open();
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      const path = join(files.guest.dir, 'another');
      const staging = new StagedUploads(path, null);
      const chunks = (async function* () {
        yield Buffer.from('content');
      })();
      await staging.receive('stg_1', { chunks, limitBytes: 10, announcedBytes: 0 });
      await vi.advanceTimersByTimeAsync(STAGED_FOR_MS - 1);
      expect(existsSync(join(path, 'stg_1'))).toBe(true);
      await vi.advanceTimersByTimeAsync(1);
      await staging.trash.idle();
      expect(readdirSync(path)).toEqual([]);
      await staging.close();
    } finally {
      vi.useRealTimers();
      await files.destroy();
    }
  });

  describe('that removes a file from its old name', () => {
    let files: FilesFixture;
    let staging: StagedUploads;
    let folder: Descriptor;

    beforeEach(async () => {
      files = await FilesFixture.open();
      staging = new StagedUploads(join(files.guest.dir, 'another'), null);
      folder = holdFolder(files.volume);
    });

    afterEach(async () => {
      await staging.trash.idle();
      expect(readdirSync(join(files.guest.dir, 'another'))).toEqual([]);
      await staging.close();
      folder[Symbol.dispose]();
      await files.destroy();
    });

    const inode = (path: string): bigint => lstatSync(path, { bigint: true }).ino;

    it('removes it', () => {
      staging.takeAway(folder, 'old', inode(files.file('old')));
      expect(readdirSync(files.volume)).toEqual([]);
      staging.takeAway(folder, 'old', 1n);
    });

    it('restores what the agent has put there in the meantime, a file or a folder', () => {
      const moved = inode(files.file('moved'));
      files.file('old', 'another');
      files.file('folder/file', 'within');
      staging.takeAway(folder, 'old', moved);
      staging.takeAway(folder, 'folder', moved);
      expect(readFileSync(join(files.volume, 'old'), 'utf8')).toBe('another');
      expect(readFileSync(join(files.volume, 'folder/file'), 'utf8')).toBe('within');
    });
  });

  describe.runIf(CAN_MOUNT)('on a disk that is full', () => {
    let files: FilesFixture;
    let disk: string;

    beforeEach(async () => {
      files = await FilesFixture.open();
      disk = join(files.guest.dir, 'disk');
      mkdirSync(disk);
    });

    afterEach(async () => {
      await files.guest.restart();
      execFileSync('umount', [disk]);
      await files.destroy();
    });

    /** Puts the volume and the staging folder on a small disk. */
    const mount = async (options: string): Promise<{ readonly volume: string; readonly staging: string }> => {
      execFileSync('mount', ['-t', 'tmpfs', '-o', options, 'berth-test', disk]);
      const storage = { volume: join(disk, 'volume'), staging: join(disk, 'staging') };
      mkdirSync(storage.volume);
      await files.guest.restart();
      await files.put({ volume: storage.volume, storage });
      return storage;
    };

    it('keeps nothing of a file that does not fit', async () => {
      const { staging } = await mount('size=2m');
      const body = Readable.from(pieces(Buffer.alloc(6 * MEGABYTE), 65_536));
      const response = await files.stage('stg_1', body, 10 * MEGABYTE);
      expect(refusalOf(response)).toBe('full volume_full');
      expect(readdirSync(staging)).toEqual([]);
      const path = { kind: 'path', path: 'a/b' } as const;
      expect((await files.write(path, Buffer.alloc(MEGABYTE / 2))).status).toBe(200);
    });

    it.each([
      ['a new folder', { op: 'mkdir', path: 'a/b/c/d/e/f' }],
      ['a file', { op: 'commit', stagedId: 'stg_1', target: { kind: 'path', path: 'a/b/c/d/e/f' } }],
    ] as const)('keeps no folder on the way to %s that does not fit', async (_, command) => {
      // The root, both folders, the staged file and two more.
      const { volume, staging } = await mount('size=2m,nr_inodes=6');
      await files.stage('stg_1', 'content');
      expect(refusalOf(await files.change(command))).toBe('full volume_full');
      expect([readdirSync(volume), readdirSync(staging)]).toEqual([[], ['stg_1']]);
      expect(refusalOf(await files.change({ op: 'mkdir', path: 'fits/too' }))).toBe('200');
    });
  });
});

function* pieces(bytes: Buffer, size: number): Generator<Buffer> {
  for (let from = 0; from < bytes.length; from += size) yield bytes.subarray(from, from + size);
}
