import { describe, expect, it } from 'vitest';
import { KeyboardMap } from './keyboard-map.js';

const CALCULATOR = 0x1008ff1d;
const BACK = 0x1008ff26;
const PASTE = 0x1008ff6d;
const RETURN = 0xff0d;
const table = {
  firstKeycode: 8,
  width: 2,
  // Keycodes 8 to 16: reserved, a letter, a sign, Return, none, calculator, a modifier without a keysym, back, paste.
  keysyms: [0, 0, 0x61, 0x41, 0x31, 0x21, RETURN, 0, 0, 0, CALCULATOR, 0, 0, 0, BACK, 0, PASTE, 0],
  modifiers: new Set([14]),
};

describe('a keyboard map', () => {
  it('finds the key of a keysym, with shift only where the key needs it', () => {
    const map = new KeyboardMap(table, 0);
    expect([0x61, 0x41, 0x21, RETURN, 0xe9].map((keysym) => map.find(keysym))).toEqual([
      { keycode: 9, shift: false },
      { keycode: 9, shift: true },
      { keycode: 10, shift: true },
      { keycode: 11, shift: false },
      undefined,
    ]);
  });

  it('finds only keys that are the same in all groups when another group is in use', () => {
    const map = new KeyboardMap(table, 1);
    expect([map.find(0x61), map.find(RETURN)]).toEqual([undefined, { keycode: 11, shift: false }]);
  });

  it('spares keycodes without a keysym first, then those of devices, never modifiers nor keys that browsers take', () => {
    expect(new KeyboardMap(table, 0).spare).toEqual([12, 13]);
  });
});
