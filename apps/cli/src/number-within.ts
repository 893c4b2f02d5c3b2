import { InvalidArgumentError } from 'commander';

/** Bounds of a number, named as in the schemas of the contracts, which can be given as they are. */
export interface NumberBounds {
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** A parser for the argument of an option: a decimal number, whole if `type` is `integer`. */
export const numberWithin = (bounds: NumberBounds) => {
  const { type, minimum = 0, maximum = Number.MAX_SAFE_INTEGER } = bounds;
  return (text: string): number => {
    const value = /^\d+(\.\d+)?$/.test(text) ? Number(text) : Number.NaN;
    const fits = value >= minimum && value <= maximum && (type !== 'integer' || Number.isInteger(value));
    if (fits) return value;
    throw new InvalidArgumentError(`Give ${describeBounds(bounds)}.`);
  };
};

/** The accepted numbers, such as "a whole number from 0 to 3600". */
export const describeBounds = ({ type, minimum = 0, maximum }: NumberBounds): string =>
  `a ${type === 'integer' ? 'whole ' : ''}number from ${minimum}${maximum === undefined ? '' : ` to ${maximum}`}`;
