import { formatImageReference, parseImageReference, type ImageReference } from '@berth/kernel';
import type { OperatorFile } from '@berth/operator-file';
import { DriverError } from '../../driver-error.js';
import { parseImageFacts, type ImageFacts } from './image-facts.js';
import { inspectImageArguments, pullArguments } from './image-arguments.js';

/** Runs nerdctl and returns its output. Errors: see `toDriverError`. */
export type CallNerdctl = (
  args: readonly string[],
  options?: { readonly timeoutMs?: number; readonly signal?: AbortSignal },
) => Promise<string>;

export type PullPolicy = OperatorFile['runtime']['pull'];

/** Below the time that a new agent has, so that its owner learns that the image cannot be had. */
const PULL_MS = 840_000;
const LOOPBACK = /^(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?$/;

/** The images of this installation in containerd. */
export class ImageStore {
  /** By reference; an image that is here does not change while this process runs. */
  readonly #known = new Map<string, Promise<ImageFacts>>();

  constructor(private readonly call: CallNerdctl) {}

  /**
   * What an image says about itself. Pulls it if needed, once however many ask for it, while other images are used.
   * Errors: `image_unavailable`, `host_unavailable`.
   */
  async obtain(text: string, policy: PullPolicy, insecure: boolean): Promise<ImageFacts> {
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
    const { digest } = await this.#inspect(reference);
    const pinned = { ...reference, digest };
    const name = formatImageReference(pinned);
    if (reference.digest === null) await this.call(['tag', formatImageReference(reference), name]);
    return name;
  }

  async #obtain(reference: ImageReference, policy: PullPolicy, insecure: boolean): Promise<ImageFacts> {
    if (policy === 'always') await this.#pull(reference, insecure);
    try {
      return await this.#inspect(reference);
    } catch (error) {
      const isAway = error instanceof DriverError && error.code === 'image_unavailable';
      if (!isAway || policy !== 'missing') throw error;
      await this.#pull(reference, insecure);
      return this.#inspect(reference);
    }
  }

  async #pull(reference: ImageReference, insecure: boolean, signal?: AbortSignal): Promise<void> {
    const plain = insecure || LOOPBACK.test(reference.registry);
    const options = { timeoutMs: PULL_MS, ...(signal === undefined ? {} : { signal }) };
    await this.call(pullArguments(formatImageReference(reference), plain), options);
  }

  async #inspect(reference: ImageReference): Promise<ImageFacts> {
    const facts = parseImageFacts(await this.call(inspectImageArguments(formatImageReference(reference))));
    if (facts === undefined)
      throw new DriverError('image_unavailable', 'The image is not on the host of the agent.');
    return facts;
  }
}

const parse = (text: string): ImageReference => {
  const reference = parseImageReference(text);
  if (reference === undefined)
    throw new DriverError('image_unavailable', 'The reference of the image is malformed.');
  return reference;
};
