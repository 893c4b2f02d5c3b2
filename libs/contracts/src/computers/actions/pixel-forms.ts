import Type from 'typebox';
import { number } from '../../schema/index.js';
import { readEach, type Form, type Read } from './member.js';
import { isNumber, isObject, type Reading } from './reading.js';
import { notchesOf, regionOf, toDisplay } from './screen.js';
import type { Point, Region } from './step.js';

export const MOST_PATH_POINTS = 1_000;
export const MOST_NOTCHES = 100;

const cut = (value: number): number => Math.trunc(value) + 0;

/** Whether a pixel, its fraction cut off, is one that the caller sees. */
const isOnScreen = (axis: 'width' | 'height', value: number, { screen }: Reading): boolean =>
  cut(value) >= 0 && cut(value) < screen.size[axis];

const outside = ({ screen: { size } }: Reading): string =>
  `must be inside the screen of ${size.width} x ${size.height} pixels`;

const coordinateForm = (axis: 'width' | 'height'): Form<number, number> => ({
  schema: Type.Number({ minimum: 0 }),
  read: (value, path, reading) => {
    if (!isNumber(value)) return reading.refuse(path, 'must be a number of pixels');
    return isOnScreen(axis, value, reading) ? cut(value) : reading.refuse(path, outside(reading));
  },
});

/** As the caller sees them: `x` and `y` together make a point of the display. */
export const x = coordinateForm('width');
export const y = coordinateForm('height');

const isPair = (value: unknown): value is readonly [number, number] =>
  Array.isArray(value) && value.length === 2 && value.every(isNumber);

const pairSchema = Type.Array(Type.Number({ minimum: 0 }), { minItems: 2, maxItems: 2 });

/** `[x, y]`, as a point of the display. */
export const coordinate: Form<readonly number[], Point> = {
  schema: pairSchema,
  read: (value, path, reading) => {
    if (!isPair(value)) return reading.refuse(path, 'must be [x, y], two numbers of pixels');
    if (!isOnScreen('width', value[0], reading) || !isOnScreen('height', value[1], reading))
      return reading.refuse(path, outside(reading));
    return toDisplay(reading.screen, { x: cut(value[0]), y: cut(value[1]) });
  },
};

const readPathPoint: Read<Point> = (value, path, reading) => {
  if (!isObject(value)) return coordinate.read(value, path, reading);
  const left = x.read(value['x'], `${path}.x`, reading);
  const top = y.read(value['y'], `${path}.y`, reading);
  reading.refuseOthers(value, ['x', 'y'], path);
  return left === undefined || top === undefined ? undefined : toDisplay(reading.screen, { x: left, y: top });
};

type PathPoint = readonly number[] | { readonly x: number; readonly y: number };

/** A list of points of the display. Only the first problem is told. */
export const dragPath: Form<readonly PathPoint[], readonly Point[]> = {
  schema: Type.Array(
    Type.Union([
      Type.Object(
        { x: Type.Number({ minimum: 0 }), y: Type.Number({ minimum: 0 }) },
        { additionalProperties: false },
      ),
      pairSchema,
    ]),
    { minItems: 1, maxItems: MOST_PATH_POINTS },
  ),
  read: (value, path, reading) => {
    if (!Array.isArray(value) || value.length === 0 || value.length > MOST_PATH_POINTS)
      return reading.refuse(path, `must be a list of 1 to ${MOST_PATH_POINTS} points`);
    return readEach(value, path, reading, readPathPoint);
  },
};

/** `[x0, y0, x1, y1]`, of which x1 and y1 are exclusive, as a region of the display. */
export const region: Form<readonly number[], Region> = {
  schema: Type.Array(Type.Number({ minimum: 0 }), { minItems: 4, maxItems: 4 }),
  read: (value, path, reading) => {
    if (!Array.isArray(value) || value.length !== 4 || !value.every(isNumber))
      return reading.refuse(path, 'must be [x0, y0, x1, y1], four numbers of pixels');
    const [left = 0, top = 0, right = 0, bottom = 0] = value.map(cut);
    const { width, height } = reading.screen.size;
    if (left < 0 || top < 0 || right > width || bottom > height)
      return reading.refuse(path, outside(reading));
    if (left >= right || top >= bottom)
      return reading.refuse(path, 'must have x0 less than x1 and y0 less than y1');
    return regionOf(reading.screen, { left, top, right, bottom });
  },
};

/** A distance to scroll, in pixels, as notches. */
export const distance: Form<number, number> = {
  schema: Type.Number(),
  read: (value, path, reading) => {
    if (!isNumber(value)) return reading.refuse(path, 'must be a number of pixels');
    const notches = notchesOf(reading.screen, value);
    return Math.abs(notches) <= MOST_NOTCHES
      ? notches
      : reading.refuse(path, `must be at most ${MOST_NOTCHES} notches of the wheel`);
  },
};

/** Notches of the wheel, rounded up. */
export const notches: Form<number, number> = {
  schema: number(0, MOST_NOTCHES),
  read: (value, path, reading) =>
    isNumber(value) && value >= 0 && value <= MOST_NOTCHES
      ? Math.ceil(value)
      : reading.refuse(path, `must be a number from 0 to ${MOST_NOTCHES}`),
};
