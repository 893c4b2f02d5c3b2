import { chmod, mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { formatKey } from '@berth/contracts/accounts';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { createKeyFile, readKeyFile, restrictToOwner, sweepDrafts } from './bootstrap-key-file.js';

const KEY = formatKey(new Uint8Array(32).fill(1));
const OTHER = formatKey(new Uint8Array(32).fill(2));

let folder: string;
let path: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'berth-key-'));
  path = join(folder, 'data', 'bootstrap-key');
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
});

const modeOf = async (file: string): Promise<number> => (await stat(file)).mode & 0o777;

describe('the key file', () => {
  it('is read back as it was written', async () => {
    await createKeyFile(path, KEY);
    expect(await readKeyFile(path)).toBe(KEY);
  });

  it('can be read by its owner only, and so can the folder made for it, whatever the umask', async () => {
    const umask = process.umask(0);
    onTestFinished(() => void process.umask(umask));
    await createKeyFile(path, KEY);
    expect(await modeOf(path)).toBe(0o600);
    expect(await modeOf(join(folder, 'data'))).toBe(0o700);
  });

  it('is never replaced: the second writer gets the existing key', async () => {
    expect(await createKeyFile(path, KEY)).toBe(KEY);
    expect(await createKeyFile(path, OTHER)).toBe(KEY);
    expect(await readKeyFile(path)).toBe(KEY);
  });

  it('contains the key that every one of many concurrent writers gets', async () => {
    const keys = Array.from({ length: 20 }, (_, index) => formatKey(new Uint8Array(32).fill(index)));
    const returned = await Promise.all(
      keys.map(async (key) => {
        const mine = await createKeyFile(path, key);
        await sweepDrafts(path);
        return mine;
      }),
    );
    expect(new Set(returned)).toEqual(new Set([await readKeyFile(path)]));
  });

  it('has no temporary files next to it, even if an earlier start was killed while writing', async () => {
    await mkdir(join(folder, 'data'));
    await writeFile(join(folder, 'data', '.bootstrap-key.new-1'), 'mk_half');
    await createKeyFile(path, KEY);
    await sweepDrafts(path);
    expect(await readdir(join(folder, 'data'))).toEqual(['bootstrap-key']);
  });

  it('is null if missing; if it contains anything but a key, the error names the file and omits its content', async () => {
    expect(await readKeyFile(path)).toBeNull();
    await mkdir(join(folder, 'data'));
    await writeFile(path, `${KEY.slice(0, -1)}\n`);
    const failure = await readKeyFile(path).catch((error: unknown) => String(error));
    expect(failure).toContain(path);
    expect(failure).not.toContain(KEY.slice(0, 20));
  });

  it('becomes accessible to its owner only if the operator created it with a wider mode', async () => {
    await mkdir(join(folder, 'data'));
    await writeFile(path, KEY);
    await chmod(path, 0o644);
    await restrictToOwner(path);
    expect(await modeOf(path)).toBe(0o600);
    expect(await readFile(path, 'utf8')).toBe(KEY);
  });
});
