import { setTimeout as delay } from 'node:timers/promises';
import { characterKeysymOf } from '@berth/contracts/computers/keysyms';
import { DomainError } from '@berth/kernel';
import { KeyboardMap } from './keyboard-map.js';
import { SHIFT } from './keysyms.js';
import type { ReadingBarrier } from './reading-barrier.js';
import { SpareKeys } from './spare-keys.js';
import { displayUnsupported } from '../x11/x-errors.js';
import type { XInput } from './x-input.js';

const CAPS_LOCK = 2;
/** Keys between two round trips, so that the queue of a program grows no faster than the server passes it on. */
const KEYS_AT_A_TIME = 64;

/** A key, and the one that shifts it where it needs that. */
interface Stroke {
  readonly keycode: number;
  readonly shift?: number;
}

/** The keyboard of a display. Each call resolves when the server has passed on all of its events. */
export class Keyboard {
  /** The keycodes that are down, by the keysym that was asked for. */
  readonly #held = new Map<number, readonly number[]>();
  readonly #spare = new SpareKeys();
  /** Keysyms that spare keycodes are to enter from the next key on. */
  readonly #remaps = new Map<number, number>();

  constructor(
    private readonly input: XInput,
    private readonly barrier: Pick<ReadingBarrier, 'pass' | 'settle'>,
    private readonly sync: () => Promise<void>,
  ) {}

  /**
   * Enters a text exactly, whatever the keyboard map and its state. Errors: invalid `untypable_text` for control characters
   * that no key enters, before anything is entered.
   */
  async type(text: string): Promise<void> {
    const keysyms = keysymsOf(text);
    let wasLocked = false;
    try {
      for (let at = 0; at < keysyms.length; at += KEYS_AT_A_TIME) {
        const { map, isLocked } = await this.#look();
        wasLocked ||= isLocked;
        if (isLocked) this.input.lock(CAPS_LOCK, false);
        const keys = keysyms.slice(at, at + KEYS_AT_A_TIME);
        await this.#enter(keys, map);
        // A browser takes its time for each key, and memory for all that wait: a page that is far behind is killed.
        if (keys.length === KEYS_AT_A_TIME) await this.barrier.settle();
      }
    } finally {
      if (wasLocked) this.input.lock(CAPS_LOCK, true);
    }
    await this.sync();
  }

  /** Presses keys one after the other, holds them, and lets them go in reverse; `repeat` times. */
  async chord(keysyms: readonly number[], { repeat = 1, holdMs = 0 } = {}): Promise<void> {
    for (let time = 0; time < repeat; time++) {
      const pressed: number[] = [];
      try {
        const { map } = await this.#look();
        for (const keysym of keysyms) if (await this.#press(keysym, map)) pressed.push(keysym);
        if (holdMs > 0) await delay(holdMs);
      } finally {
        for (const keysym of pressed.toReversed()) await this.up(keysym);
      }
    }
  }

  /** Presses a key, which stays down until `up` or `releaseAll`. Returns false if it is down already. */
  async down(keysym: number): Promise<boolean> {
    const { map } = await this.#look();
    return this.#press(keysym, map);
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

  async #press(keysym: number, map: KeyboardMap): Promise<boolean> {
    if (this.#held.has(keysym)) return false;
    const { keycode, shift } = await this.#strokeOf(keysym, map);
    const codes = shift === undefined || this.#held.has(SHIFT) ? [keycode] : [shift, keycode];
    this.#held.set(keysym, codes);
    await this.#remap();
    for (const code of codes) this.input.key(code, true);
    await this.sync();
    return true;
  }

  async #enter(keysyms: readonly number[], map: KeyboardMap): Promise<void> {
    // All keycodes of these keys get their keysyms before the first is pressed: programs read the map less often.
    let pending: Stroke[] = [];
    const flush = async (): Promise<void> => {
      await this.#remap();
      for (const stroke of pending) this.#stroke(stroke);
      pending = [];
    };
    for (const keysym of keysyms) {
      // Not in one expression: `flush` begins another list.
      const stroke = await this.#strokeOf(keysym, map, flush);
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

  #stroke({ keycode, shift }: Stroke): void {
    if (shift !== undefined) this.input.key(shift, true);
    this.input.key(keycode, true);
    this.input.key(keycode, false);
    if (shift !== undefined) this.input.key(shift, false);
  }

  /** The key of the map, or a spare one that is to enter the keysym. */
  async #strokeOf(keysym: number, map: KeyboardMap, flush?: () => Promise<void>): Promise<Stroke> {
    const known = map.find(keysym);
    const shift = map.find(SHIFT)?.keycode;
    if (known !== undefined && !known.shift) return { keycode: known.keycode };
    if (known !== undefined && shift !== undefined) return { keycode: known.keycode, shift };
    return { keycode: await this.#spareKey(keysym, map, flush) };
  }

  /** A spare keycode that enters this keysym; `flush` enters what was prepared before programs are waited for. */
  async #spareKey(keysym: number, map: KeyboardMap, flush?: () => Promise<void>): Promise<number> {
    const known = this.#spare.find(keysym);
    if (known !== undefined) return known;
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
    return keycode;
  }

  /** The map and its locks as they are now: a person or a program may have changed them since. */
  async #look(): Promise<{ readonly map: KeyboardMap; readonly isLocked: boolean }> {
    this.input.takeKeyboard();
    const { locked, group } = await this.input.keyboardState();
    const table = await this.input.keyTable();
    const { firstKeycode, width } = table;
    const keysyms = [...table.keysyms];
    for (const [keysym, keycode] of this.#spare.assigned) {
      const at = (keycode - firstKeycode) * width;
      // What is still as it was given here is free for other keysyms.
      if (keysyms[at] === keysym) keysyms.fill(0, at, at + width);
      else this.#spare.forget(keysym);
    }
    return { map: new KeyboardMap({ ...table, keysyms }, group), isLocked: (locked & CAPS_LOCK) !== 0 };
  }
}

const keysymsOf = (text: string): readonly number[] =>
  Array.from(text.replaceAll('\r\n', '\n'), (character) => {
    const keysym = characterKeysymOf(character);
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
