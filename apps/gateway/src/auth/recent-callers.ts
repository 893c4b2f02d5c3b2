const FOR_MS = 60_000;
const MOST = 10_000;

/** Remembers for a minute, on a clock that nothing sets, whom a credential named; at most 10,000 of them. */
export class RecentCallers<Caller> {
  readonly #callers = new Map<string, { readonly caller: Caller; readonly until: number }>();

  get(key: string): Caller | undefined {
    const known = this.#callers.get(key);
    if (known === undefined) return undefined;
    if (known.until > performance.now()) return known.caller;
    this.#callers.delete(key);
    return undefined;
  }

  /** Does not prolong the time of one that is remembered. */
  add(key: string, caller: Caller): void {
    if (this.#callers.has(key)) return;
    this.#callers.set(key, { caller, until: performance.now() + FOR_MS });
    const [oldest] = this.#callers.keys();
    if (this.#callers.size > MOST && oldest !== undefined) this.#callers.delete(oldest);
  }

  delete(key: string): void {
    this.#callers.delete(key);
  }
}
