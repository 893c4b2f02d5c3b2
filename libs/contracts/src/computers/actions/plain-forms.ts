import Type, { type TSchema } from 'typebox';
import { Check } from 'typebox/schema';
import { JSON_BODY_LIMIT, number, oneOf, text, whole } from '../../schema/index.js';
import { keysymOf } from './keys.js';
import type { Form } from './member.js';
import { isNumber } from './reading.js';
import type { MouseButton } from './step.js';

/** Of one wait or hold. */
export const MOST_WAIT_SECONDS = 300;
/** Of all waits and holds of a request. */
export const MOST_WAIT_SECONDS_IN_ALL = 600;
export const MOST_TYPED_CHARACTERS = 10_000;

/** A value that its schema alone describes. */
const plain = <Value>(schema: TSchema, message: string): Form<Value, Value> => ({
  schema,
  read: (value, path, reading) => (Check(schema, value) ? (value as Value) : reading.refuse(path, message)),
});

export const wholeNumber = (least: number, most: number): Form<number, number> =>
  plain(whole(least, most), `must be a whole number from ${least} to ${most}`);

export const flag: Form<boolean, boolean> = plain(Type.Boolean(), 'must be true or false');

export const choice = <const Values extends readonly string[]>(
  values: Values,
): Form<Values[number], Values[number]> =>
  plain<Values[number]>(oneOf(values), `must be one of ${values.join(', ')}`);

const scale = number(0.1, 1);
export const isScale = (value: unknown): value is number => Check(scale, value);
export const scaleFactor: Form<number, number> = plain(scale, 'must be a number from 0.1 to 1');

/** A text that is not empty, such as an id. */
export const name: Form<string, string> = plain(
  Type.String({ minLength: 1 }),
  'must be a text that is not empty',
);

/** Any text, also an empty one. */
export const anyText: Form<string, string> = plain(Type.String(), 'must be a text');

const UNICODE = 'characters of valid Unicode without NUL';

export const typedText: Form<string, string> = plain(
  Type.Refine(text({ min: 0, max: MOST_TYPED_CHARACTERS }), (value) =>
    Array.from(value).every((character) => keysymOf(character) !== undefined),
  ),
  `must be a text of at most ${MOST_TYPED_CHARACTERS} ${UNICODE} or other control characters that no key enters`,
);
/** The body has the only bound. */
export const clipboardText: Form<string, string> = plain(
  text({ min: 0, max: JSON_BODY_LIMIT }),
  `must be a text of at most ${JSON_BODY_LIMIT} ${UNICODE}`,
);

const BUTTONS = { left: 1, middle: 2, wheel: 2, right: 3, back: 8, forward: 9 } as const;
const buttonName = choice(Object.keys(BUTTONS) as readonly (keyof typeof BUTTONS)[]);
export const button: Form<keyof typeof BUTTONS, MouseButton> = {
  schema: buttonName.schema,
  read: (value, path, reading) => {
    const one = buttonName.read(value, path, reading);
    return one === undefined ? undefined : BUTTONS[one];
  },
};

/** A time to wait or to hold, in whole milliseconds. */
const time = (unit: 'ms' | 's'): Form<number, number> => {
  const perUnit = unit === 's' ? 1_000 : 1;
  const most = (MOST_WAIT_SECONDS * 1_000) / perUnit;
  return {
    schema: number(0, most),
    read: (value, path, reading) => {
      if (!isNumber(value) || value < 0 || value > most)
        return reading.refuse(path, `must be a number from 0 to ${most}`);
      const ms = Math.round(value * perUnit);
      reading.waited += ms;
      return reading.waited <= MOST_WAIT_SECONDS_IN_ALL * 1_000
        ? ms
        : reading.refuse(
            path,
            `must leave all waits and holds within ${MOST_WAIT_SECONDS_IN_ALL} s together`,
          );
    },
  };
};
export const seconds = time('s');
export const milliseconds = time('ms');
