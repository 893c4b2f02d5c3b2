import Type from 'typebox';
import { chordOf, textChordOf, type Chord } from './keys.js';
import { readEach, type Form } from './member.js';
import { quoted } from './reading.js';

const isUnknown = (chord: Chord): chord is Extract<Chord, { readonly unknown: string }> => 'unknown' in chord;

const keyText = (chord: (text: string) => Chord): Form<string, readonly number[]> => ({
  schema: Type.String({ minLength: 1 }),
  read: (value, path, reading) => {
    if (typeof value !== 'string') return reading.refuse(path, 'must be a text');
    const keys = chord(value);
    return isUnknown(keys) ? reading.refuse(path, `has an unknown key: ${quoted(keys.unknown)}`) : keys;
  },
});

/** A key or a chord, as Anthropic's actions have it. */
export const chordText = keyText(textChordOf);

const chordItem = keyText(chordOf);

/** One key. */
export const key: Form<string, number> = {
  schema: chordItem.schema,
  read: (value, path, reading) => {
    const [one, ...more] = chordItem.read(value, path, reading) ?? [];
    return more.length === 0 ? one : reading.refuse(path, 'must be one key');
  },
};

/** A list of keys and chords. Only the first problem is told. */
const keysFrom = (least: 0 | 1): Form<readonly string[], readonly number[]> => ({
  schema: Type.Array(chordItem.schema, { minItems: least }),
  read: (value, path, reading) => {
    if (!Array.isArray(value)) return reading.refuse(path, 'must be a list of keys');
    if (value.length < least) return reading.refuse(path, 'must have at least one key');
    const all = readEach(value, path, reading, chordItem.read);
    return all === undefined ? undefined : [...new Set(all.flat())];
  },
});
export const heldKeys = keysFrom(0);
export const chordKeys = keysFrom(1);
