import { describe, expect, it } from 'vitest';
import { SenderClocks } from './sender-clocks.js';

/** This process's clocks, set by hand. */
const clocks = () => {
  const time = { mono: 1_000, wall: 5_000_000 };
  const own = { id: 'own', now: () => time.mono };
  const known = new SenderClocks(own, () => time.wall);
  const pass = (ms: number): void => {
    time.mono += ms;
    time.wall += ms;
  };
  return { known, time, pass };
};

describe('the age of a request', () => {
  it('is exact when the sender is this process', () => {
    const { known } = clocks();
    expect(known.ageAtMost('own', 900)).toBe(100);
  });

  it('is unknown until the sender was asked', () => {
    const { known } = clocks();
    expect(known.ageAtMost('far', 70_000)).toBeUndefined();
  });

  it('is never underestimated, however long the question took', () => {
    const { known, pass, time } = clocks();
    const askedAt = time.mono;
    // The sender's clock is 69,000 ms ahead; its response takes 400 ms to get here.
    const senderNow = time.mono + 69_000 + 10;
    pass(410);
    known.learn('far', askedAt, senderNow);
    const sentAt = time.mono + 69_000 - 50;
    expect(known.ageAtMost('far', sentAt)).toBeGreaterThanOrEqual(50);
    expect(known.ageAtMost('far', sentAt)).toBeLessThan(50 + 410 + 1);
  });

  it('keeps the better of two measurements', () => {
    const { known, pass, time } = clocks();
    known.learn('far', time.mono, time.mono + 69_000);
    pass(1_000);
    known.learn('far', time.mono - 900, time.mono + 69_000);
    expect(known.ageAtMost('far', time.mono + 69_000 - 20)).toBeLessThan(25);
  });

  it('grows with the drift that clocks may have, and is measured again in time', () => {
    const { known, pass, time } = clocks();
    known.learn('far', time.mono, time.mono + 69_000);
    expect(known.isDue('far')).toBe(false);
    pass(31_000);
    expect(known.ageAtMost('far', time.mono + 69_000)).toBeCloseTo(31, 0);
    expect(known.isDue('far')).toBe(true);
  });

  it('is unknown again after this machine was suspended', () => {
    const { known, time } = clocks();
    known.learn('far', time.mono, time.mono + 69_000);
    time.wall += 45_000;
    expect(known.ageAtMost('far', time.mono + 69_000)).toBeUndefined();
  });

  it('is not learned from a reply to a question sent before this machine was suspended', () => {
    const { known, pass, time } = clocks();
    const askedAt = time.mono;
    pass(5);
    time.wall += 45_000;
    // Another request comes before the response does.
    expect(known.ageAtMost('far', askedAt + 69_000)).toBeUndefined();
    known.learn('far', askedAt, askedAt + 69_000);
    expect(known.ageAtMost('far', askedAt + 69_000)).toBeUndefined();
    pass(5);
    known.learn('far', time.mono, time.mono + 69_000 + 45_000);
    expect(known.ageAtMost('far', time.mono + 69_000)).toBeCloseTo(45_000, 0);
  });

  it('is overestimated, not underestimated, after the sender was suspended', () => {
    const { known, pass, time } = clocks();
    known.learn('far', time.mono, time.mono + 69_000);
    pass(45_000);
    expect(known.ageAtMost('far', time.mono + 69_000 - 45_000)).toBeGreaterThanOrEqual(45_000);
  });
});
