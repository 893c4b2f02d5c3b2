import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadLayout, type LoadArchive } from './image-layout.js';

const run = promisify(execFile);
const NAME = 'berth.local/build/dep_1:latest';
const manifest = { mediaType: 'application/x', digest: 'sha256:00', size: 2 };

let folder: string;
let layout: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-layout-'));
  layout = join(folder, 'image');
  mkdirSync(join(layout, 'blobs', 'sha256'), { recursive: true });
  writeFileSync(join(layout, 'blobs', 'sha256', '00'), '{}');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const index = (content: unknown): void => writeFileSync(join(layout, 'index.json'), JSON.stringify(content));

const load = async (reader: LoadArchive = () => Promise.resolve()): Promise<void> =>
  loadLayout(layout, NAME, join(folder, 'own'), reader, AbortSignal.timeout(10_000));

describe('the image that a build has written', () => {
  it('is loaded under the name of the build alone, whatever its layout says', async () => {
    const annotations = { 'io.containerd.image.name': 'docker.io/library/debian:12' };
    index({ schemaVersion: 2, manifests: [{ ...manifest, annotations }] });
    writeFileSync(join(layout, 'manifest.json'), '[{"RepoTags":["debian:12"]}]');
    const extracted = join(folder, 'extracted');
    mkdirSync(extracted);
    await load((archive) => run('tar', ['--extract', `--file=${archive}`, `--directory=${extracted}`]));
    const { stdout: files } = await run('find', ['.', '-type', 'f'], { cwd: extracted });
    expect(files.trim().split('\n').toSorted()).toEqual([
      './blobs/sha256/00',
      './index.json',
      './oci-layout',
    ]);
    const { stdout } = await run('cat', [join(extracted, 'index.json')]);
    expect(JSON.parse(stdout)).toEqual({
      schemaVersion: 2,
      manifests: [{ ...manifest, annotations: { 'io.containerd.image.name': NAME } }],
    });
  });

  it('is refused if it has no index, another number of images, or an index that is not one', async () => {
    await expect(load()).rejects.toThrow();
    for (const content of [{ manifests: [] }, { manifests: [manifest, manifest] }, { manifests: [{}] }, {}]) {
      index(content);
      await expect(load()).rejects.toThrow(/index/);
    }
  });

  it('is refused if it lies behind a link, or its index does', async () => {
    index({ manifests: [manifest] });
    const elsewhere = join(folder, 'elsewhere');
    renameSync(layout, elsewhere);
    symlinkSync(elsewhere, layout);
    await expect(load()).rejects.toThrow(/not where/);
    rmSync(layout);
    renameSync(elsewhere, layout);
    renameSync(join(layout, 'index.json'), elsewhere);
    symlinkSync(elsewhere, join(layout, 'index.json'));
    await expect(load()).rejects.toThrow(/ELOOP/);
  });

  it('ends the one side of the pipe when the other one fails', async () => {
    index({ manifests: [manifest] });
    await expect(load(() => Promise.reject(new Error('containerd is away')))).rejects.toThrow(
      'containerd is away',
    );
  });
});
