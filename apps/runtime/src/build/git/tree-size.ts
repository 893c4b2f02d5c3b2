/** No file takes less than this of a disk, so that a million empty files are not nothing. */
const LEAST_BYTES = 1_024;
/** The block that a folder takes of a disk, whatever it contains. */
const FOLDER_BYTES = 4_096;
/** The most that all paths may take: git holds them in memory. It is 64 bytes for each of the most files that fit. */
const PATH_BYTES = 64 * 1024 * 1024;
/** Linux takes no longer path. */
const LONGEST_PATH = 4_096;
/** Mode, type, id and size take about 80 bytes. */
const LONGEST_ENTRY = LONGEST_PATH + 128;

/**
 * Adds up what a tree takes when it is checked out, from the output of `git ls-tree -r -t -l -z`. Few objects can name any
 * number of entries, and a name can be of any length, so that the sum of the sizes alone limits neither.
 */
export class TreeSize {
  #bytes = 0;
  #pathBytes = 0;
  #hasLongPath = false;
  #rest = '';

  constructor(private readonly limit: number) {}

  get isTooLarge(): boolean {
    return this.#bytes > this.limit || this.#pathBytes > PATH_BYTES || this.#hasLongPath;
  }

  add(chunk: Buffer): void {
    if (this.isTooLarge) return;
    const entries = (this.#rest + chunk.toString('latin1')).split('\0');
    this.#rest = entries.pop() ?? '';
    for (const entry of entries) this.#addEntry(entry);
    this.#hasLongPath ||= this.#rest.length > LONGEST_ENTRY;
  }

  #addEntry(entry: string): void {
    const [, type, size] = /^\S+ (\S+) \S+ +(\d+|-)\t/.exec(entry) ?? [];
    const least = type === 'tree' ? FOLDER_BYTES : LEAST_BYTES;
    this.#bytes += size === undefined || size === '-' ? least : Math.max(Number(size), least);
    const pathBytes = entry.length - entry.indexOf('\t') - 1;
    this.#pathBytes += pathBytes;
    this.#hasLongPath ||= pathBytes > LONGEST_PATH;
  }
}
