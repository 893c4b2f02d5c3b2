import { setTimeout as delay } from 'node:timers/promises';
import { DomainError } from '@berth/kernel';
import { KeyboardMap, type KeyStroke } from './keyboard-map.js';
import { keysymOf, SHIFT } from './keysyms.js';
import type { ReadingBarrier } from './reading-barrier.js';
import { SpareKeys } from './spare-keys.js';
import { displayUnsupported } from '../x11/x-errors.js';
import type { XInput } from './x-input.js';

const CAPS_LOCK = 2;
/** Keys between two round trips, so that the queue of a program grows no faster than the server passes it on. */
const KEYS_AT_A_TIME = 64;

/** The keyboard of a display. Each call resolves when the server has passed on all of its events. */
export class Keyboard {
  /** The keycodes that are down, by the keysym that was asked for. */
  readonly #held = new Map<number, readonly number[]>();
  readonly #spare = new SpareKeys();
  /** Keysyms that spare keycodes are to enter from the next key on. */
  readonly #remaps = new Map<number, number>();

  constructor(
    private readonly input: XInput,
    private readonly barrier: ReadingBarrier,
    private readonly sync: () => Promise<void>,
  ) {}

  /**
   * Enters a text exactly, whatever the keyboard map and its state. Errors: invalid `untypable_text` for control characters
   * that no key enters, before anything is entered.
   */
  async type(text: string): Promise<void> {
    const keysyms = keysymsOf(text);
    const { locked, group } = await this.input.keyboardState();
    const map = await this.#readMap(group);
    const isLocked = (locked & CAPS_LOCK) !== 0;
    if (isLocked) this.input.lock(CAPS_LOCK, false);
    for (let at = 0; at < keysyms.length; at += KEYS_AT_A_TIME) {
      const keys = keysyms.slice(at, at + KEYS_AT_A_TIME);
      await this.#enter(keys, map);
      // A browser takes its time for each key, and memory for all that wait: a page that is far behind is killed.
      if (keys.length === KEYS_AT_A_TIME) await this.barrier.settle();
    }
    if (isLocked) this.input.lock(CAPS_LOCK, true);
    await this.sync();
  }

  /** Presses keys one after the other, holds them, and lets them go in reverse; `repeat` times. */
  async chord(keysyms: readonly number[], { repeat = 1, holdMs = 0 } = {}): Promise<void> {
    for (let time = 0; time < repeat; time++) {
      const pressed: number[] = [];
      try {
        for (const keysym of keysyms) if (await this.down(keysym)) pressed.push(keysym);
        if (holdMs > 0) await delay(holdMs);
      } finally {
        for (const keysym of pressed.toReversed()) await this.up(keysym);
      }
    }
  }

  /** Presses a key, which stays down until `up` or `releaseAll`. Returns false if it is down already. */
  async down(keysym: number): Promise<boolean> {
    if (this.#held.has(keysym)) return false;
    const { group } = await this.input.keyboardState();
    const map = await this.#readMap(group);
    const { keycode, shift } = map.find(keysym) ?? (await this.#spareStroke(keysym, map));
    const withShift = shift && !this.#held.has(SHIFT) ? map.find(SHIFT)?.keycode : undefined;
    const codes = withShift === undefined ? [keycode] : [withShift, keycode];
    this.#held.set(keysym, codes);
    await this.#remap();
    for (const code of codes) this.input.key(code, true);
    await this.sync();
    return true;
  }

  /** Lets a key go that `down` has pressed; nothing for another one. */
  async up(keysym: number): Promise<void> {
    const codes = this.#held.get(keysym) ?? [];
    this.#held.delete(keysym);
    for (const code of codes.toReversed()) this.input.key(code, false);
    await this.sync();
  }

  /** Lets all keys go. */
  async releaseAll(): Promise<void> {
    for (const keysym of [...this.#held.keys()].toReversed()) await this.up(keysym);
  }

  async #enter(keysyms: readonly number[], map: KeyboardMap): Promise<void> {
    const shiftCode = map.find(SHIFT)?.keycode;
    // All keycodes of these keys get their keysyms before the first is pressed: programs read the map less often.
    let pending: KeyStroke[] = [];
    const flush = async (): Promise<void> => {
      await this.#remap();
      for (const { keycode, shift } of pending) this.#stroke(keycode, shift ? shiftCode : undefined);
      pending = [];
    };
    for (const keysym of keysyms) {
      const known = map.find(keysym);
      const usable = known !== undefined && (!known.shift || shiftCode !== undefined);
      const stroke = usable ? known : await this.#spareStroke(keysym, map, flush);
      pending.push(stroke);
    }
    await flush();
    await this.sync();
  }

  async #remap(): Promise<void> {
    if (this.#remaps.size === 0) return;
    this.input.remap(this.#remaps);
    this.#remaps.clear();
    // Toolkits of a browser read the map on a connection of their own, perhaps after the key: as what it was before.
    await this.sync();
    await this.barrier.settle();
  }

  #stroke(keycode: number, shiftCode: number | undefined): void {
    if (shiftCode !== undefined) this.input.key(shiftCode, true);
    this.input.key(keycode, true);
    this.input.key(keycode, false);
    if (shiftCode !== undefined) this.input.key(shiftCode, false);
  }

  /** A spare keycode that enters this keysym; `flush` enters what was prepared before programs are waited for. */
  async #spareStroke(keysym: number, map: KeyboardMap, flush?: () => Promise<void>): Promise<KeyStroke> {
    const known = this.#spare.find(keysym);
    if (known !== undefined) return { keycode: known, shift: false };
    const held = new Set([...this.#held.values()].flat());
    let keycode = this.#spare.assign(keysym, map.spare, held);
    if (keycode === undefined) {
      await flush?.();
      await this.sync();
      await this.barrier.pass();
      this.#spare.allRead();
      keycode = this.#spare.assign(keysym, map.spare, held);
    }
    if (keycode === undefined) throw displayUnsupported('The keyboard map has no key to spare.');
    this.#remaps.set(keycode, keysym);
    return { keycode, shift: false };
  }

  /** The map as it is now: a person or a program may have chosen another since. */
  async #readMap(group: number): Promise<KeyboardMap> {
    const table = await this.input.keyTable();
    const { firstKeycode, width } = table;
    const keysyms = [...table.keysyms];
    for (const [keysym, keycode] of this.#spare.assigned) {
      const at = (keycode - firstKeycode) * width;
      // What is still as it was given here is free for other keysyms.
      if (keysyms[at] === keysym) keysyms.fill(0, at, at + width);
      else this.#spare.forget(keysym);
    }
    return new KeyboardMap({ ...table, keysyms }, group);
  }
}

const keysymsOf = (text: string): readonly number[] =>
  Array.from(text.replaceAll('\r\n', '\n'), (character) => {
    const keysym = keysymOf(character);
    if (keysym === undefined) {
      throw new DomainError(
        'invalid',
        'untypable_text',
        'The text has a control character that no key enters.',
        {},
        { effect: 'none' },
      );
    }
    return keysym;
  });
