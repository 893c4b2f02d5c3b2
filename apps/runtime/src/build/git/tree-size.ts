/** No file takes less than this of a disk, so that a million empty files are not nothing. */
const LEAST_BYTES = 1_024;

/** Adds up the sizes in the output of `git ls-tree -r -l -z`. */
export class TreeSize {
  #bytes = 0;
  #rest = '';

  constructor(private readonly limit: number) {}

  get isTooLarge(): boolean {
    return this.#bytes > this.limit;
  }

  add(chunk: Buffer): void {
    const entries = (this.#rest + chunk.toString('latin1')).split('\0');
    this.#rest = entries.pop() ?? '';
    for (const entry of entries) {
      const size = /^\S+ \S+ \S+ +(\d+)\t/.exec(entry)?.[1];
      this.#bytes += Math.max(Number(size ?? 0), LEAST_BYTES);
    }
  }
}
