import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { chordOf, keysymOf, textChordOf } from './keys.js';

const KEYS = [
  ['Return', 0xff0d],
  ['ENTER', 0xff0d],
  ['KP_Enter', 0xff8d],
  ['ESC', 0xff1b],
  ['Escape', 0xff1b],
  ['BackSpace', 0xff08],
  ['BACKSPACE', 0xff08],
  ['DELETE', 0xffff],
  ['Tab', 0xff09],
  ['SPACE', 0x20],
  [' ', 0x20],
  ['Page_Up', 0xff55],
  ['PAGEDOWN', 0xff56],
  ['Prior', 0xff55],
  ['Home', 0xff50],
  ['ARROWLEFT', 0xff51],
  ['Left', 0xff51],
  ['ArrowUp', 0xff52],
  ['ARROWRIGHT', 0xff53],
  ['ARROWDOWN', 0xff54],
  ['F12', 0xffc9],
  ['Print', 0xff61],
  ['CAPSLOCK', 0xffe5],
  ['ctrl', 0xffe3],
  ['Control_R', 0xffe4],
  ['SHIFT', 0xffe1],
  ['ALT', 0xffe9],
  ['OPTION', 0xffe9],
  ['CMD', 0xffeb],
  ['META', 0xffeb],
  ['WIN', 0xffeb],
  ['SUPER', 0xffeb],
  ['Meta_L', 0xffe7],
  ['ISO_Left_Tab', 0xfe20],
  ['XF86AudioMute', 0x1008ff12],
  ['a', 0x61],
  ['A', 0x61],
  ['É', 0xe9],
  ['Eacute', 0xe9],
  ['7', 0x37],
  ['+', 0x2b],
  ['plus', 0x2b],
  ['!', 0x21],
  ['€', 0x010020ac],
  ['EuroSign', 0x20ac],
  ['U20AC', 0x010020ac],
  ['U0041', 0x61],
  ['U042F', 0x0100044f],
  ['U0130', 0x01000130],
  ['я', 0x0100044f],
  ['Cyrillic_ya', 0x6d1],
  ['braille_blank', 0x01002800],
  ['braille_dots_1', 0x01002801],
  ['braille_dots_12345678', 0x010028ff],
  ['braille_dots_468', 0x010028a8],
  ['braille_dot_8', 0xfff8],
  ['🚀', 0x0101f680],
  ['\n', 0xff0d],
] as const;

const CHORDS = [
  ['ctrl+s', [0xffe3, 0x73]],
  ['CTRL+SHIFT+S', [0xffe3, 0xffe1, 0x73]],
  ['ctrl++', [0xffe3, 0x2b]],
  ['+', [0x2b]],
  ['alt+Tab', [0xffe9, 0xff09]],
  ['ctrl+CTRL+c', [0xffe3, 0x63]],
] as const;

describe('the name of a key', () => {
  it.each(KEYS)('%j is the X keysym %i', (name, keysym) => {
    expect(keysymOf(name)).toBe(keysym);
  });

  it('means the same key in any case', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...KEYS.map(([name]) => name)),
        fc.array(fc.boolean(), { minLength: 24, maxLength: 24 }),
        (name, raised) => {
          const other = [...name]
            .map((character, index) => (raised[index] ? character.toUpperCase() : character.toLowerCase()))
            .join('');
          expect(keysymOf(other)).toBe(keysymOf(name));
        },
      ),
    );
  });

  it('may be any one character but a control character, and no two have one key but for their case', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }), (character) => {
        const code = character.codePointAt(0) ?? 0;
        fc.pre(code >= 0xa0 || (code >= 0x20 && code < 0x7f));
        const keysym = keysymOf(character) ?? 0;
        const entered = String.fromCodePoint(keysym > 0xff ? keysym - 0x0100_0000 : keysym);
        expect([character, character.toLowerCase()]).toContain(entered);
      }),
    );
  });

  it.each([
    '',
    'Retrun',
    'U20',
    'U110000',
    'UD800',
    'U0085',
    'braille_dots_',
    'braille_dots_21',
    'braille_dots_9',
    'constructor',
    '\0',
    '\u0085',
    'ab',
    'e\u0301',
    '\ud800',
    'ctrl-s',
  ])('is not %j', (name) => {
    expect(keysymOf(name)).toBeUndefined();
  });
});

describe('a chord', () => {
  it.each(CHORDS)('%s presses its keys in order, each once', (text, keys) => {
    expect(chordOf(text)).toEqual(keys);
    expect(textChordOf(text)).toEqual(keys);
  });

  it.each([
    ['ctrl+Retrun', 'Retrun'],
    ['ctrl+', ''],
    ['', ''],
    ['+s', ''],
  ])('%j is refused for its first unknown name', (text, unknown) => {
    expect(chordOf(text)).toEqual({ unknown });
  });

  it('has letters unshifted, but for a capital alone in a text', () => {
    expect(chordOf('A')).toEqual([0x61]);
    expect(textChordOf('A')).toEqual([0x41]);
    expect(textChordOf('Ä')).toEqual([0xc4]);
    expect(textChordOf('ctrl+A')).toEqual([0xffe3, 0x61]);
    expect(textChordOf('a')).toEqual([0x61]);
  });
});
