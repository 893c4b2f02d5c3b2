import { Dice } from '@berth/testing';
import { CronExpressionParser } from 'cron-parser';
import { describe, expect, it } from 'vitest';
import { timesOf, zoneOf } from './cron-times.fixture.js';
import type { Zone } from './zone.js';

const ZONES = Intl.supportedValuesOf('timeZone');
const fieldOf = (dice: Dice, min: number, max: number): string => {
  const one = (): number => dice.between(min, max);
  const range = (): string => {
    const [low, high] = [one(), one()].sort((a, b) => a - b);
    return `${String(low)}-${String(high)}`;
  };
  switch (dice.between(0, 5)) {
    case 0:
      return `*/${String(dice.between(2, 6))}`;
    case 1:
      return range();
    case 2:
      return `${range()}/${String(dice.between(1, 5))}`;
    case 3:
      return [...new Set([one(), one()])].join(',');
    case 4:
      return String(one());
    default:
      return '*';
  }
};

interface Triple {
  readonly expression: string;
  readonly zone: string;
  readonly moment: number;
}

const randomTriple = (dice: Dice): Triple => {
  const [minute, hour] = [fieldOf(dice, 0, 59), fieldOf(dice, 0, 23)];
  const month = dice.percent(33) ? fieldOf(dice, 1, 12) : '*';
  // Only one of the two days is restricted: libraries disagree about `*/2` beside another one.
  const [day, weekday] = dice.percent(50) ? [fieldOf(dice, 1, 28), '*'] : ['*', fieldOf(dice, 0, 6)];
  const zone = dice.one(ZONES);
  const moment = Date.UTC(
    dice.between(2015, 2034),
    dice.between(0, 11),
    dice.between(1, 28),
    dice.between(0, 23),
    dice.between(0, 59),
    dice.between(0, 59),
  );
  return { expression: [minute, hour, day, month, weekday].join(' '), zone, moment };
};

/** The next time in the other library; null where it gives up, which it does for rare times. */
const theirsOf = ({ expression, zone, moment }: Triple): number | null => {
  const theirs = CronExpressionParser.parse(expression, { tz: zone, currentDate: new Date(moment) });
  try {
    return theirs.next().getTime();
  } catch (error) {
    if (error instanceof Error && error.message.includes('loop limit exceeded')) return null;
    throw error;
  }
};

/** Whether the clocks of the zone change between two moments, or within a day of them. */
const hasChange = (zone: Zone, from: number, to: number): boolean => {
  const offset = zone.offsetAt(from - DAY_MS);
  for (let at = from - DAY_MS; at <= to + DAY_MS; at += DAY_MS) if (zone.offsetAt(at) !== offset) return true;
  return zone.offsetAt(to + DAY_MS) !== offset;
};
const DAY_MS = 86_400_000;

/** Zones and moments at which their clocks change: by 60, 30 and 120 minutes, at midnight too, and by a day. */
const CHANGES: readonly (readonly [zone: string, moment: string])[] = [
  ['Europe/Berlin', '2026-03-29T01:00:00Z'],
  ['Europe/Berlin', '2026-10-25T01:00:00Z'],
  ['Australia/Lord_Howe', '2026-04-04T15:00:00Z'],
  ['Australia/Lord_Howe', '2026-10-03T15:30:00Z'],
  ['America/Havana', '2026-03-08T05:00:00Z'],
  ['America/Havana', '2026-11-01T05:00:00Z'],
  ['Antarctica/Troll', '2026-03-29T01:00:00Z'],
  ['Antarctica/Troll', '2026-10-25T01:00:00Z'],
  ['Pacific/Apia', '2011-12-30T10:00:00Z'],
];

const WINDOW_MS = 30 * 3_600_000;

/** The first time in the window after `moment`, found minute by minute from the rules as they are worded. */
const byTheMinute = ({ expression, zone: name, moment }: Triple): number | null => {
  const zone = zoneOf(name);
  const cron = CronExpressionParser.parse(expression, { tz: 'UTC' });
  const matches = (local: number): boolean => cron.includesDate(new Date(local));
  const [, hour = ''] = expression.split(' ');
  const seen = new Set<number>();
  let before = Number.NaN;
  for (let at = moment - WINDOW_MS - (moment % MINUTE_MS); at < moment + WINDOW_MS; at += MINUTE_MS) {
    const local = zone.localAt(at);
    const isFirst = !seen.has(local);
    const skipped = local - before > MINUTE_MS ? { from: before + MINUTE_MS, to: local } : null;
    seen.add(local);
    before = local;
    if (at <= moment) continue;
    if (matches(local) && (isFirst || hour.startsWith('*'))) return at;
    if (skipped === null || hour.startsWith('*')) continue;
    for (let gone = skipped.from; gone < skipped.to; gone += MINUTE_MS) if (matches(gone)) return at;
  }
  return null;
};
const MINUTE_MS = 60_000;

/** Compares the times of so many random expressions with those of another library, and of others around changes of clocks. */
export const describeRandomCronTimes = ({
  seed,
  count,
}: {
  readonly seed: number;
  readonly count: number;
}): void => {
  describe(`${String(count)} random cron expressions, zones and moments`, () => {
    it('have the same next time as in another library, wherever the clocks do not change', () => {
      const dice = new Dice(seed);
      const different: unknown[] = [];
      let same = 0;
      for (let nth = 0; nth < count; nth++) {
        const { expression, zone, moment } = randomTriple(dice);
        const ours = timesOf(expression, zone).after(moment);
        const theirs = theirsOf({ expression, zone, moment });
        if (ours === theirs) same++;
        else if (theirs !== null && !hasChange(zoneOf(zone), moment, Math.min(theirs, ours ?? theirs)))
          different.push({ expression, zone, moment: new Date(moment), ours, theirs });
      }
      expect(different).toEqual([]);
      expect(same).toBeGreaterThan(0.95 * count);
    }, 300_000);
  });

  describe('random cron expressions around changes of clocks', () => {
    it('are the same times that a check of every single minute finds', () => {
      const dice = new Dice(seed);
      for (const [zone, change] of CHANGES) {
        for (let nth = 0; nth < 12; nth++) {
          const expression = `${fieldOf(dice, 0, 59)} ${fieldOf(dice, 0, 23)} * * *`;
          const moment = Date.parse(change) + dice.between(-180, 59) * MINUTE_MS;
          const expected = byTheMinute({ expression, zone, moment });
          const found = timesOf(expression, zone).after(moment);
          const isWithin = found !== null && found < moment + WINDOW_MS;
          expect([expression, zone, new Date(moment), isWithin ? found : null]).toEqual([
            expression,
            zone,
            new Date(moment),
            expected,
          ]);
        }
      }
    });
  });
};
