import { entersCharacter, isFunctionKey, isSpareable } from './keysyms.js';

/** How to enter a keysym. */
export interface KeyStroke {
  readonly keycode: number;
  readonly shift: boolean;
}

/** The keysyms of all keycodes as the server reports them, and what is derived from them. */
export interface KeyTable {
  readonly firstKeycode: number;
  /** Number of keysyms for each keycode. */
  readonly width: number;
  readonly keysyms: readonly number[];
  /** Keycodes that are modifiers. */
  readonly modifiers: ReadonlySet<number>;
}

/** Never used as a spare: Linux has no key with this code, and some programs take it for none. */
const RESERVED = 8;

/** Which key enters which keysym, and which keycodes are free to enter others. */
export class KeyboardMap {
  readonly #strokes = new Map<number, KeyStroke>();
  /** Free keycodes: first those that no key has, then those of keys for devices. */
  readonly spare: readonly number[];

  constructor(
    { firstKeycode, width, keysyms, modifiers }: KeyTable,
    private readonly group: number,
  ) {
    const empty: number[] = [];
    const devices: number[] = [];
    for (let index = 0; index < keysyms.length / width; index++) {
      const keycode = firstKeycode + index;
      const own = keysyms.slice(index * width, (index + 1) * width).filter((keysym) => keysym !== 0);
      if (keycode > RESERVED && !modifiers.has(keycode)) {
        if (own.length === 0) empty.push(keycode);
        else if (own.every(isSpareable)) devices.push(keycode);
      }
      this.#add(keycode, keysyms[index * width] ?? 0, keysyms[index * width + 1] ?? 0);
    }
    this.spare = [...empty, ...devices];
  }

  /** The key of the map itself that enters a keysym, with shift where it needs it. */
  find(keysym: number): KeyStroke | undefined {
    // The other groups of a map enter other characters with the same keys.
    return this.group === 0 || isFunctionKey(keysym) ? this.#strokes.get(keysym) : undefined;
  }

  #add(keycode: number, plain: number, shifted: number): void {
    const known = this.#strokes.get(plain);
    if (plain !== 0 && (known === undefined || known.shift))
      this.#strokes.set(plain, { keycode, shift: false });
    if (shifted !== 0 && entersCharacter(shifted) && !this.#strokes.has(shifted)) {
      this.#strokes.set(shifted, { keycode, shift: true });
    }
  }
}
