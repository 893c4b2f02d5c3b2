import { describe, expect, it } from 'vitest';
import { divideDown, divideHalfUp, divideUp, formatCents, parseCents, showCents } from './money.js';

describe('cents', () => {
  it.each([
    [0, 0n],
    [250, 250_000_000n],
    [312.5, 312_500_000n],
    [0.000001, 1n],
    [0.1, 100_000n],
    [-1.25, -1_250_000n],
    [8000000000.740991, 8_000_000_000_740_991n],
    ['312.50000000', 312_500_000n],
    ['0.000001', 1n],
    ['123456789012345678901234567890.123456', 123_456_789_012_345_678_901_234_567_890_123_456n],
    [' 7 ', 7_000_000n],
  ])('%s are parsed exactly', (cents, amount) => {
    expect(parseCents(cents)).toBe(amount);
  });

  it.each([
    0.0000001,
    1.2345678,
    '1.0000001',
    1e21,
    Number.NaN,
    Number.POSITIVE_INFINITY,
    '',
    '.5',
    '5.',
    '1e3',
    '0x10',
    '1,5',
    '+1',
    '1 000',
  ])('%s are refused', (cents) => {
    expect(parseCents(cents)).toBeUndefined();
  });

  it.each([
    [0n, '0', 0],
    [1n, '0.000001', 0.000001],
    [-1n, '-0.000001', -0.000001],
    [312_500_000n, '312.5', 312.5],
    [100_000_000n, '100', 100],
    [-1_050_000n, '-1.05', -1.05],
  ])('%s millionths are shown without trailing zeros, as text and as a number', (amount, text, number) => {
    expect(formatCents(amount)).toBe(text);
    expect(showCents(amount)).toBe(number);
  });

  it('are the same after they were shown as a JSON number, up to eight billion', () => {
    let amount = 1n;
    for (
      let step = 0;
      step < 400 && amount <= 8_000_000_000_000_000n;
      step++, amount = amount + amount / 9n + 7n
    )
      expect(parseCents(JSON.parse(JSON.stringify(showCents(amount))) as number)).toBe(amount);
  });
});

describe('division', () => {
  it.each([
    [7n, 2n, 3n, 4n, 4n],
    [5n, 2n, 2n, 3n, 3n],
    [6n, 2n, 3n, 3n, 3n],
    [1n, 3n, 0n, 1n, 0n],
    [2n, 3n, 0n, 1n, 1n],
    [0n, 3n, 0n, 0n, 0n],
    [-1n, 3n, -1n, 0n, 0n],
    [-5n, 2n, -3n, -2n, -2n],
  ])('of %s by %s rounds down to %s, up to %s, and half up to %s', (dividend, divisor, down, up, halfUp) => {
    expect(divideDown(dividend, divisor)).toBe(down);
    expect(divideUp(dividend, divisor)).toBe(up);
    expect(divideHalfUp(dividend, divisor)).toBe(halfUp);
  });

  it('by zero or less is refused', () => {
    for (const divide of [divideDown, divideUp, divideHalfUp]) {
      expect(() => divide(1n, 0n)).toThrow(RangeError);
      expect(() => divide(1n, -1n)).toThrow(RangeError);
    }
  });
});
