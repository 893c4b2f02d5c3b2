/** Keysyms of the keys that hold others down or lock them. */
export const SHIFT = 0xffe1;

/** Control characters that a key of their own enters. */
const KEYS_OF_CONTROLS: ReadonlyMap<string, number> = new Map([
  ['\b', 0xff08],
  ['\t', 0xff09],
  ['\n', 0xff0d],
  ['\r', 0xff0d],
  ['\u001B', 0xff1b],
  ['\u007F', 0xffff],
]);

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

/** The keysym of one character; undefined for control characters that no key enters. */
export const keysymOf = (character: string): number | undefined => {
  const key = KEYS_OF_CONTROLS.get(character);
  if (key !== undefined) return key;
  const code = character.codePointAt(0) ?? 0;
  if (code < 0x20 || (code > 0x7f && code < 0xa0)) return undefined;
  return code < 0x100 ? code : UNICODE + code;
};

/** Whether a key with this keysym is the same in all groups of a keyboard map. */
export const isFunctionKey = (keysym: number): boolean => keysym >= FUNCTIONS && keysym < 0x10000;
