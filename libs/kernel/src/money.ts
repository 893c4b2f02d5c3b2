/**
 * An amount of money, or a rate, in millionths of a cent. Stored and sent between services as its decimal digits
 * (`String(amount)`, `BigInt(text)`), because JSON numbers are floats.
 */
export type Millionths = bigint;

/** Millionths in a cent. */
export const MILLIONTHS_PER_CENT: Millionths = 1_000_000n;

const PLACES = 6;
const DECIMAL = /^(-?)(\d+)(?:\.(\d+))?$/;

/**
 * Cents with up to 6 decimals, as a JSON number or as text: 312.5, `0.000001`. Undefined if they have more decimals, an
 * exponent (of a number: if it is 1e21 or more), or are not a number.
 */
export const parseCents = (cents: number | string): Millionths | undefined => {
  const [, sign, whole = '', decimals = ''] = DECIMAL.exec(inDigits(cents)) ?? [];
  const places = decimals.replace(/0+$/, '');
  if (sign === undefined || places.length > PLACES) return undefined;
  const amount = BigInt(whole + places.padEnd(PLACES, '0'));
  return sign === '-' ? -amount : amount;
};

/** Numbers show an exponent below 1e-6, where there are too many decimals anyway. */
const inDigits = (cents: number | string): string =>
  typeof cents === 'string' ? cents.trim() : String(cents);

/** Cents in digits without trailing zeros: `312.5`, `0`, `-0.000001`. */
export const formatCents = (amount: Millionths): string => {
  const size = amount < 0n ? -amount : amount;
  const whole = size / MILLIONTHS_PER_CENT;
  const decimals = String(size % MILLIONTHS_PER_CENT)
    .padStart(PLACES, '0')
    .replace(/0+$/, '');
  return `${amount < 0n ? '-' : ''}${whole}${decimals === '' ? '' : `.${decimals}`}`;
};

/** Cents as the JSON number of a response. Exact up to 8 billion cents; only for what leaves Berth. */
export const showCents = (amount: Millionths): number => {
  const whole = Number(amount);
  // Dividing a whole number that a double holds exactly gives the same number as reading its decimals, sooner.
  return Number.isSafeInteger(whole) ? whole / Number(MILLIONTHS_PER_CENT) : Number(formatCents(amount));
};

/** The quotient, rounded towards minus infinity. Throws a RangeError if the divisor is not positive. */
export const divideDown = (dividend: bigint, divisor: bigint): bigint => {
  if (divisor <= 0n) throw new RangeError('a divisor is positive');
  const quotient = dividend / divisor;
  return dividend % divisor < 0n ? quotient - 1n : quotient;
};

/** The quotient, rounded towards plus infinity. Throws a RangeError if the divisor is not positive. */
export const divideUp = (dividend: bigint, divisor: bigint): bigint => -divideDown(-dividend, divisor);

/** The nearest quotient, the larger of two. Throws a RangeError if the divisor is not positive. */
export const divideHalfUp = (dividend: bigint, divisor: bigint): bigint =>
  divideDown(2n * dividend + divisor, 2n * divisor);
