import { execFile } from 'node:child_process';
import { constants } from 'node:fs';
import { mkdir, open, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { throughPipe } from './through-pipe.js';

const run = promisify(execFile);

const MAX_INDEX_BYTES = 64 * 1024;

interface Descriptor {
  readonly mediaType: string;
  readonly digest: string;
  readonly size: number;
}

/** Reads an archive of images to its end. */
export type LoadArchive = (archive: string, signal: AbortSignal) => Promise<unknown>;

/**
 * Loads the one image of an OCI layout that strangers have written, under that name. Names in the layout do not count: they
 * could be those of other images. Follows no link, and leaves it to containerd to check the digests. The archive is a pipe,
 * so that it takes no space. Call it when no process can change the layout. `folder` is for files of the host's own. Throws
 * if there is no such image.
 */
export const loadLayout = async (
  layout: string,
  name: string,
  folder: string,
  load: LoadArchive,
  signal: AbortSignal,
): Promise<void> => {
  // A link could lead to files of the host.
  if ((await realpath(layout)) !== layout) throw new Error('The image is not where the build must write it.');
  const manifest = await readManifest(join(layout, 'index.json'));
  await mkdir(folder, { recursive: true, mode: 0o700 });
  await writeFile(join(folder, 'oci-layout'), JSON.stringify({ imageLayoutVersion: '1.0.0' }));
  const annotations = { 'io.containerd.image.name': name };
  const index = { schemaVersion: 2, manifests: [{ ...manifest, annotations }] };
  await writeFile(join(folder, 'index.json'), JSON.stringify(index));
  const own = [`--directory=${folder}`, 'oci-layout', 'index.json'];
  const pack = (archive: string, either: AbortSignal): Promise<unknown> =>
    run('tar', ['--create', `--file=${archive}`, ...own, `--directory=${layout}`, 'blobs'], {
      signal: either,
    });
  await throughPipe(join(folder, 'archive'), pack, load, signal);
};

const readManifest = async (path: string): Promise<Descriptor> => {
  const file = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const info = await file.stat();
    if (!info.isFile() || info.size > MAX_INDEX_BYTES)
      throw new Error('The index of the image is not valid.');
    const index: unknown = JSON.parse(await file.readFile('utf8'));
    const { manifests } = index as { readonly manifests?: readonly unknown[] };
    const [first] = manifests ?? [];
    if (manifests?.length !== 1 || !isDescriptor(first)) throw new Error('The index must name one image.');
    const { mediaType, digest, size } = first;
    return { mediaType, digest, size };
  } finally {
    await file.close();
  }
};

const isDescriptor = (value: unknown): value is Descriptor =>
  typeof value === 'object' &&
  value !== null &&
  'mediaType' in value &&
  typeof value.mediaType === 'string' &&
  'digest' in value &&
  typeof value.digest === 'string' &&
  'size' in value &&
  typeof value.size === 'number';
