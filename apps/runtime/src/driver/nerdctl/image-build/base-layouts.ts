import { execFile } from 'node:child_process';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DriverError } from '../../driver-error.js';
import type { BaseImage } from '../../task-spec.js';
import type { ImageStore, PullPolicy } from '../images/image-store.js';
import { throughPipe } from './through-pipe.js';

const run = promisify(execFile);

/** An image as an OCI layout that a build can read. */
export interface BaseLayout {
  /** As BuildKit asks for the image. */
  readonly name: string;
  /** Of the host. */
  readonly folder: string;
  readonly digest: string;
}

/**
 * Pulls images to the host and writes each to a folder below `parent`. Errors: `image_unavailable`, `host_unavailable`; the
 * reason of `signal`.
 */
export const makeLayouts = async (
  wanted: readonly BaseImage[],
  parent: string,
  images: Pick<ImageStore, 'have' | 'save'>,
  policy: PullPolicy,
  signal: AbortSignal,
): Promise<readonly BaseLayout[]> => {
  const layouts: BaseLayout[] = [];
  for (const { name, reference, insecure } of wanted) {
    const complete = await images.have(reference, policy, insecure, signal).catch((cause: unknown) => {
      signal.throwIfAborted();
      if (!(cause instanceof DriverError && cause.code === 'image_unavailable')) throw cause;
      throw new DriverError('image_unavailable', `The image ${name} cannot be pulled.`, { cause });
    });
    const folder = join(parent, String(layouts.length));
    // Root of the build's user namespace reads it.
    await mkdir(folder, { recursive: true, mode: 0o755 });
    const extract = (archive: string, either: AbortSignal): Promise<unknown> =>
      run(
        'tar',
        ['--extract', '--read-full-records', '--no-same-owner', `--file=${archive}`, `--directory=${folder}`],
        {
          signal: either,
        },
      );
    const save = (archive: string, either: AbortSignal): Promise<void> =>
      images.save(complete, archive, either);
    await throughPipe(join(parent, 'archive'), save, extract, signal);
    layouts.push({ name, folder, digest: await digestIn(folder) });
  }
  return layouts;
};

const digestIn = async (layout: string): Promise<string> => {
  const index = JSON.parse(await readFile(join(layout, 'index.json'), 'utf8')) as {
    readonly manifests: readonly { readonly digest: string }[];
  };
  const [first] = index.manifests;
  if (first === undefined) throw new Error('nerdctl has saved no image.');
  return first.digest;
};
