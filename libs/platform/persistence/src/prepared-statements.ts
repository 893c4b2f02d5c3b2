import { createHash } from 'node:crypto';

/** Texts beyond this many are sent unprepared: dynamically built texts must not fill the server's memory. */
const MOST_TEXTS = 500;

/** "cached plan must not change result type": a view was redefined over tables of another shape. */
const FEATURE_NOT_SUPPORTED = '0A000';

/**
 * Assigns names to statements, so that a connection parses and plans each text once. Planning is most of the server's
 * cost of a small look-up.
 */
export class PreparedStatements {
  readonly #names = new Map<string, string>();
  #generation = 0;

  /** Returns the name for the prepared statement; undefined for a text that is better sent unprepared. */
  nameOf(text: string, params: readonly unknown[]): string | undefined {
    if (params.length === 0) return undefined;
    const known = this.#names.get(text);
    if (known !== undefined) return known;
    if (this.#names.size >= MOST_TEXTS) return undefined;
    const digest = createHash('sha256').update(text).digest('base64url').slice(0, 22);
    const name = `b${String(this.#generation)}_${digest}`;
    this.#names.set(text, name);
    return name;
  }

  /** Whether `error` says that a cached plan is outdated; if so, all texts get new names from here on. */
  outdatedBy(error: unknown): boolean {
    const outdated = error instanceof Error && 'code' in error && error.code === FEATURE_NOT_SUPPORTED;
    if (!outdated) return false;
    this.#names.clear();
    this.#generation += 1;
    return true;
  }
}
