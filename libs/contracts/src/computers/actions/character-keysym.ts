/** Control characters that a key of their own enters: backspace, tab, return, escape and delete. */
const KEYS_OF_CONTROLS: ReadonlyMap<string, number> = new Map([
  ['\b', 0xff08],
  ['\t', 0xff09],
  ['\n', 0xff0d],
  ['\r', 0xff0d],
  ['\u001b', 0xff1b],
  ['\u007f', 0xffff],
]);

/** How X numbers the characters beyond Latin 1. */
export const UNICODE_KEYSYMS = 0x0100_0000;

/** The X keysym that enters exactly this character; undefined for control characters that no key enters. */
export const characterKeysymOf = (character: string): number | undefined => {
  const key = KEYS_OF_CONTROLS.get(character);
  if (key !== undefined) return key;
  const code = character.codePointAt(0) ?? 0;
  const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
  const isSurrogate = code >= 0xd800 && code < 0xe000;
  if (isControl || isSurrogate) return undefined;
  return code <= 0xff ? code : UNICODE_KEYSYMS + code;
};
