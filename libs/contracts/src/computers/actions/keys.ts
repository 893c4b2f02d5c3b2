import { characterKeysymOf, UNICODE_KEYSYMS } from './character-keysym.js';
import { CHARACTER_KEYSYMS } from './character-keysyms.js';
import { KEY_KEYSYMS } from './key-keysyms.js';

/** Names of keys that are no X keysyms: xdotool's, OpenAI's, and those of keyboards. In lower case. */
const ALIASES = new Map(
  Object.entries({
    alt: 'alt_l',
    altgr: 'iso_level3_shift',
    arrowdown: 'down',
    arrowleft: 'left',
    arrowright: 'right',
    arrowup: 'up',
    capslock: 'caps_lock',
    cmd: 'super_l',
    command: 'super_l',
    contextmenu: 'menu',
    control: 'control_l',
    ctrl: 'control_l',
    del: 'delete',
    enter: 'return',
    esc: 'escape',
    hyper: 'hyper_l',
    ins: 'insert',
    meta: 'super_l',
    numlock: 'num_lock',
    option: 'alt_l',
    pagedown: 'page_down',
    pageup: 'page_up',
    pgdn: 'page_down',
    pgup: 'page_up',
    printscreen: 'print',
    prtsc: 'print',
    scrolllock: 'scroll_lock',
    shift: 'shift_l',
    spacebar: 'space',
    super: 'super_l',
    win: 'super_l',
    windows: 'super_l',
  }),
);

const keysyms = new Map(
  [KEY_KEYSYMS, CHARACTER_KEYSYMS].flatMap((rows) =>
    rows
      .trim()
      .split('\n')
      .flatMap((row) => {
        const [first = '', ...names] = row.split(' ');
        return names.map((name, index) => [name.toLowerCase(), Number.parseInt(first, 16) + index] as const);
      }),
  ),
);

const UNICODE_NAME = /^u([0-9a-f]{4,6})$/;
const LAST_CHARACTER = 0x10_ffff;
const BRAILLE_NAME = /^braille_dots_(?=.)(1?2?3?4?5?6?7?8?)$/;
const NO_BRAILLE_DOTS = 0x2800;

/** The X keysym of a key by its name in any case, or of the key that enters a character; undefined for no key. */
export const keysymOf = (name: string): number | undefined => {
  const lower = name.toLowerCase();
  if (isCharacter(name)) return keysymOfCharacter(name);
  const known = keysyms.get(ALIASES.get(lower) ?? lower);
  if (known !== undefined) return known;
  const code = Number.parseInt(UNICODE_NAME.exec(lower)?.[1] ?? '', 16);
  return code <= LAST_CHARACTER ? keysymOfCharacter(String.fromCodePoint(code)) : brailleKeysymOf(lower);
};

/** `braille_dots_135` is the character with these dots: each is a bit of its code. */
const brailleKeysymOf = (name: string): number | undefined => {
  const dots = BRAILLE_NAME.exec(name)?.[1];
  return dots === undefined
    ? undefined
    : [...dots].reduce((keysym, dot) => keysym + 2 ** (Number(dot) - 1), UNICODE_KEYSYMS + NO_BRAILLE_DOTS);
};

/** Of a letter unshifted, unless its small form is more than one character. */
const keysymOfCharacter = (character: string): number | undefined => {
  const lower = character.toLowerCase();
  return characterKeysymOf(isCharacter(lower) ? lower : character);
};

const isCharacter = (text: string): boolean => text.length <= 2 && [...text].length === 1;

/** The keys of a chord, or the name of the first that is none. */
export type Chord = readonly number[] | { readonly unknown: string };

/** Of a text such as `ctrl+shift+s` or `ctrl++`. */
export const chordOf = (text: string): Chord => {
  const keys: number[] = [];
  for (const name of namesIn(text)) {
    const key = keysymOf(name);
    if (key === undefined) return { unknown: name };
    keys.push(key);
  }
  return [...new Set(keys)];
};

/** Like `chordOf`, but a capital alone is shifted. */
export const textChordOf = (text: string): Chord => {
  const isCapital = isCharacter(text) && text !== text.toLowerCase();
  const capital = isCapital ? characterKeysymOf(text) : undefined;
  return capital === undefined ? chordOf(text) : [capital];
};

/** The names between the plus signs. One at the end, alone or after another, is the key. */
const namesIn = (text: string): readonly string[] => {
  if (text === '+') return [text];
  return text.endsWith('++') ? [...text.slice(0, -2).split('+'), '+'] : text.split('+');
};
