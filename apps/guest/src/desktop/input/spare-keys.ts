/**
 * Which keysyms the spare keycodes of a display enter. A program looks up what a keycode enters only when it reads the
 * event of the key, so a keycode must not get another keysym before the program has read what was entered with it.
 */
export class SpareKeys {
  /** Keycodes by keysym, the longest unused first. */
  readonly #assigned = new Map<number, number>();
  /** Keycodes used since all programs were last known to have read everything. */
  readonly #unread = new Set<number>();

  /** What the keycodes were last given. */
  get assigned(): ReadonlyMap<number, number> {
    return this.#assigned;
  }

  /** The keycode that enters a keysym already. */
  find(keysym: number): number | undefined {
    const keycode = this.#assigned.get(keysym);
    return keycode === undefined ? undefined : this.#use(keysym, keycode);
  }

  /** Gives a keysym one of these keycodes that no program waits to read; undefined if there is none. */
  assign(keysym: number, keycodes: readonly number[], held: ReadonlySet<number>): number | undefined {
    const taken = new Set(this.#assigned.values());
    const free = keycodes.find((one) => !taken.has(one));
    if (free !== undefined) return this.#use(keysym, free);
    for (const [former, keycode] of this.#assigned) {
      if (this.#unread.has(keycode) || held.has(keycode)) continue;
      this.#assigned.delete(former);
      return this.#use(keysym, keycode);
    }
    return undefined;
  }

  /** Something else has changed what a keysym's keycode enters. */
  forget(keysym: number): void {
    this.#assigned.delete(keysym);
  }

  /** All programs have read what was entered so far. */
  allRead(): void {
    this.#unread.clear();
  }

  #use(keysym: number, keycode: number): number {
    this.#assigned.delete(keysym);
    this.#assigned.set(keysym, keycode);
    this.#unread.add(keycode);
    return keycode;
  }
}
