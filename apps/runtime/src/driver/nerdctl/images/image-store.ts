import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { formatImageReference, parseImageReference, type ImageReference } from '@berth/kernel';
import type { OperatorFile } from '@berth/operator-file';
import { DriverError } from '../../driver-error.js';
import { bareImageArchive, bareImageName } from './bare-image.js';
import { damagedDownloads } from './damaged-downloads.js';
import {
  inspectImageArguments,
  loadArguments,
  pullArguments,
  removeImageArguments,
  saveArguments,
} from './image-arguments.js';
import { factsOf, parseInspectedImage, type ImageFacts, type InspectedImage } from './image-facts.js';

/** Runs nerdctl and returns its output. Errors: see `toDriverError`. */
export type CallNerdctl = (
  args: readonly string[],
  options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
) => Promise<string>;

export type PullPolicy = OperatorFile['runtime']['pull'];

/** Below the time that a new agent has, so that its owner learns that the image cannot be had. */
const PULL_MS = 840_000;
/** Storing a large image on a slow disk takes minutes. */
const LOAD_MS = 600_000;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

/** An image that is on this host. */
export interface ObtainedImage extends ImageFacts {
  /** The name of the same image without its configuration, which containers are created from. */
  readonly bare: string;
}

/** The images of this installation in containerd. */
export class ImageStore {
  /** By reference; an image that is here does not change while this process runs. */
  readonly #known = new Map<string, Promise<ObtainedImage>>();

  /** `folder`: returns one for files that are needed for a moment. */
  constructor(
    private readonly call: CallNerdctl,
    private readonly folder: () => string,
    private readonly abortDownloads: (downloads: readonly string[]) => Promise<void>,
  ) {}

  /**
   * What an image says about itself. Pulls it if needed, once however many ask for it, while other images are used.
   * Errors: `image_unavailable`, `host_unavailable`.
   */
  async obtain(text: string, policy: PullPolicy, insecure: boolean): Promise<ObtainedImage> {
    const reference = parse(text);
    const name = formatImageReference(reference);
    // An image with a digest is always the same.
    const isFresh = policy !== 'always' || reference.digest !== null;
    const known = isFresh ? this.#known.get(name) : undefined;
    const facts = known ?? this.#obtain(reference, isFresh ? policy : 'always', insecure);
    this.#known.set(name, facts);
    facts.catch(() => {
      if (this.#known.get(name) === facts) this.#known.delete(name);
    });
    return facts;
  }

  /**
   * The reference of an image with its digest, as the registry has it now; the image is here then. Errors:
   * `image_unavailable`, `host_unavailable`.
   */
  async pin(text: string, policy: PullPolicy, insecure: boolean, signal: AbortSignal): Promise<string> {
    const reference = parse(text);
    if (policy !== 'never') await this.#pull(reference, insecure, signal);
    const { digest } = factsOf(await this.#inspect(reference));
    const pinned = { ...reference, digest };
    const name = formatImageReference(pinned);
    if (reference.digest === null) await this.call(['tag', formatImageReference(reference), name]);
    return name;
  }

  /** Makes an image available, and returns its complete reference. Errors: `image_unavailable`, `host_unavailable`. */
  async have(text: string, policy: PullPolicy, insecure: boolean, signal: AbortSignal): Promise<string> {
    const reference = parse(text);
    await this.#find(reference, policy, insecure, signal);
    return formatImageReference(reference);
  }

  /** Writes an image to an archive. Errors: `host_unavailable`; the reason of `signal`. */
  async save(text: string, archive: string, signal: AbortSignal): Promise<void> {
    await this.call(saveArguments(text, archive), { timeoutMs: LOAD_MS, signal });
  }

  /** Loads the images of an archive. Errors: `host_unavailable`; the reason of `signal`. */
  async load(archive: string, signal: AbortSignal): Promise<void> {
    await this.call(loadArguments(archive), { timeoutMs: LOAD_MS, signal });
  }

  /** Deletes an image and the bare one made of it; a no-op if they are not here. Errors: `host_unavailable`. */
  async remove(name: string): Promise<void> {
    const inspected = parseInspectedImage(await this.call(inspectImageArguments(name)).catch(absent));
    if (inspected === undefined) return;
    const { digest } = factsOf(inspected);
    for (const known of this.#known.keys()) if (known.endsWith(`@${digest}`)) this.#known.delete(known);
    const pinned = formatImageReference({ ...parse(name), digest });
    for (const one of [bareImageName(digest), pinned, name])
      await this.call(removeImageArguments(one)).catch(absent);
  }

  async #obtain(reference: ImageReference, policy: PullPolicy, insecure: boolean): Promise<ObtainedImage> {
    const inspected = await this.#find(reference, policy, insecure);
    const facts = factsOf(inspected);
    await this.#loadBare(inspected, facts.digest);
    return { ...facts, bare: bareImageName(facts.digest) };
  }

  async #loadBare(inspected: InspectedImage, digest: string): Promise<void> {
    const folder = await mkdtemp(join(this.folder(), `${digest.slice(digest.indexOf(':') + 1)}-`));
    const archive = join(folder, 'image.tar');
    await writeFile(archive, bareImageArchive(inspected));
    try {
      await this.call(loadArguments(archive));
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  }

  async #find(
    reference: ImageReference,
    policy: PullPolicy,
    insecure: boolean,
    signal?: AbortSignal,
  ): Promise<InspectedImage> {
    if (policy === 'always') await this.#pull(reference, insecure, signal);
    try {
      return await this.#inspect(reference);
    } catch (error) {
      if (!isAway(error)) throw error;
      if (policy === 'never') throw notOnHost(reference, error);
      await this.#pull(reference, insecure, signal);
      return this.#inspect(reference);
    }
  }

  async #pull(reference: ImageReference, insecure: boolean, signal?: AbortSignal): Promise<void> {
    const plain = insecure || LOOPBACK.test(reference.registry);
    const options = { timeoutMs: PULL_MS, ...(signal === undefined ? {} : { signal }) };
    const pull = () => this.call(pullArguments(formatImageReference(reference), plain), options);
    try {
      await pull().catch(async (error: unknown) => {
        signal?.throwIfAborted();
        if (!(await this.#discardDamaged(error))) throw error;
        await pull();
      });
    } catch (error) {
      signal?.throwIfAborted();
      await this.#discardDamaged(error);
      if (error instanceof DriverError && !isAway(error)) throw error;
      // A registry can fail in more ways than its messages can be recognized by.
      throw cannotPull(reference, error);
    }
  }

  /** Returns whether there were damaged downloads: containerd would resume them, also in a later pull, and fail. */
  async #discardDamaged(error: unknown): Promise<boolean> {
    const downloads = damagedDownloads(error instanceof Error ? error.message : '');
    await this.abortDownloads(downloads);
    return downloads.length > 0;
  }

  async #inspect(reference: ImageReference): Promise<InspectedImage> {
    const output = await this.call(inspectImageArguments(formatImageReference(reference)));
    const inspected = parseInspectedImage(output);
    if (inspected === undefined) throw notOnHost(reference);
    return inspected;
  }
}

const isAway = (error: unknown): boolean =>
  error instanceof DriverError && error.code === 'image_unavailable';

/** An image that is not here. */
const absent = (error: unknown): string => {
  if (isAway(error)) return '';
  throw error;
};

const cannotPull = (reference: ImageReference, cause: unknown): DriverError =>
  new DriverError(
    'image_unavailable',
    `The image ${formatImageReference(reference)} cannot be pulled. ` +
      'Check that it exists, and that the host of the agent can reach its registry and may pull from it.',
    { cause },
  );

const notOnHost = (reference: ImageReference, cause?: unknown): DriverError =>
  new DriverError(
    'image_unavailable',
    `The image ${formatImageReference(reference)} is not on the host of the agent, which pulls no images.`,
    { cause },
  );

const parse = (text: string): ImageReference => {
  const reference = parseImageReference(text);
  if (reference === undefined)
    throw new DriverError('image_unavailable', 'The reference of the image is malformed.');
  return reference;
};
