/** Keysyms of the keys that hold others down or lock them. */
export const SHIFT = 0xffe1;

/** Keysyms from here to 0x10000 are of keys that enter no character. */
const FUNCTIONS = 0xff00;
const UNICODE = 0x1000000;

/** Whether a keysym enters a character, so that the shift level of its key does no more than choose it. */
export const entersCharacter = (keysym: number): boolean => keysym < 0xfe00 || keysym >= UNICODE;

const VENDOR = 0x1008ff00;
/**
 * Keys that browsers take by their keycode, whatever they enter: home page, search, back, forward, stop, reload, favourites,
 * power, sleep, volume, copy, cut, paste, and those that control what is played.
 */
const TAKEN_BY_KEYCODE: ReadonlySet<number> = new Set(
  [
    0x18, 0x1b, 0x26, 0x27, 0x28, 0x29, 0x30, 0x56, 0x73, 0x2a, 0x2e, 0x2f, 0x11, 0x12, 0x13, 0x14, 0x15,
    0x16, 0x17, 0x31, 0x57, 0x58, 0x6d,
  ].map((key) => VENDOR + key),
);

/** Whether a keysym is of a key for a device or a program that no text and no chord needs. */
export const isSpareable = (keysym: number): boolean =>
  keysym >= VENDOR - 0x100 && keysym < VENDOR + 0x100 && !TAKEN_BY_KEYCODE.has(keysym);

/** Whether a key with this keysym is the same in all groups of a keyboard map. */
export const isFunctionKey = (keysym: number): boolean => keysym >= FUNCTIONS && keysym < 0x10000;
