import { CronExpressionParser } from 'cron-parser';
import { describe, expect, it } from 'vitest';
import { CronTimes } from './cron-times.js';
import { Zone } from './zone.js';

const timesOf = (expression: string, zone = 'UTC'): CronTimes => {
  const times = CronTimes.parse(expression, zoneOf(zone));
  if ('problem' in times) throw new Error(`${expression} ${times.problem}`);
  return times;
};

const zoneOf = (name: string): Zone => {
  const zone = Zone.named(name);
  if (zone === undefined) throw new Error(`There is no zone ${name}.`);
  return zone;
};

/** The next `count` times, as ISO 8601. */
const next = (expression: string, zone: string, from: string, count: number): readonly string[] => {
  const times = timesOf(expression, zone);
  const found: string[] = [];
  let instant = Date.parse(from);
  while (found.length < count) {
    instant = times.after(instant) ?? Number.NaN;
    found.push(new Date(instant).toISOString());
  }
  return found;
};

const problemOf = (expression: string): string | undefined => {
  const times = CronTimes.parse(expression, zoneOf('UTC'));
  return 'problem' in times ? times.problem : undefined;
};

describe('a cron expression', () => {
  it.each([
    ['@hourly', ['2026-01-01T01:00:00.000Z', '2026-01-01T02:00:00.000Z']],
    ['@daily', ['2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z']],
    ['@weekly', ['2026-01-04T00:00:00.000Z', '2026-01-11T00:00:00.000Z']],
    ['@monthly', ['2026-02-01T00:00:00.000Z', '2026-03-01T00:00:00.000Z']],
    ['@yearly', ['2027-01-01T00:00:00.000Z', '2028-01-01T00:00:00.000Z']],
    ['0 9 * jul-AUG Wed,7', ['2026-07-01T09:00:00.000Z', '2026-07-05T09:00:00.000Z']],
    ['0 9 13 * 5', ['2026-01-02T09:00:00.000Z', '2026-01-09T09:00:00.000Z', '2026-01-13T09:00:00.000Z']],
    ['0 0 29 2 *', ['2028-02-29T00:00:00.000Z', '2032-02-29T00:00:00.000Z']],
    ['5/15 * * * *', undefined],
  ])('%s means what it says', (expression, times) => {
    if (times === undefined) expect(problemOf(expression)).toBeDefined();
    else expect(next(expression, 'UTC', '2026-01-01T00:00:00.000Z', times.length)).toEqual(times);
  });

  it.each([
    '',
    '* * * *',
    '* * * * * *',
    '@reboot',
    '@midnight',
    '@annually',
    '60 * * * *',
    '* 24 * * *',
    '* * 0 * *',
    '* * * 13 *',
    '* * * * 8',
    '*/0 * * * *',
    '0 0 ? * *',
    '0 0 L * *',
    '0 0 * * 5L',
    '0 0 15W * *',
    '0 0 * * 5#2',
    '0 0 * * FRI#2',
    '0 0 30 2 *',
    '0 0 31 4,6,9,11 *',
    'a b c d e',
  ])('is refused: %j', (expression) => expect(problemOf(expression)).toBeDefined());

  it.each(['1e1 * * * *', '+5 * * * *', '0 0 ? * *', '0 0 L * *', '0 0 * * FRIDAY'])(
    'is refused for what its fields may contain: %j',
    (expression) => expect(problemOf(expression)).toMatch(/^must contain only numbers, names/),
  );
});

describe('a time zone', () => {
  it.each(['Europe/Berlin', 'UTC', 'Etc/GMT+3', 'America/Argentina/Ushuaia', 'Pacific/Kiritimati'])(
    'is %s',
    (name) => expect(Zone.named(name)?.name).toBe(name),
  );

  it.each(['', '+02:00', '-0300', 'GMT+2', 'UTC+1', 'Z', '2', 'Europe/Nowhere', 'Europe/Berlin '])(
    'is not %j',
    (name) => expect(Zone.named(name)).toBeUndefined(),
  );
});

describe('where the clock skips an hour', () => {
  const eve = '2026-03-28T12:00:00.000Z';

  it('a fixed hour fires at the moment of the change, once, and the next day as ever', () => {
    const changed = '2026-03-29T01:00:00.000Z';
    expect(next('30 2 * * *', 'Europe/Berlin', eve, 2)).toEqual([changed, '2026-03-30T00:30:00.000Z']);
    expect(next('*/15 2,3 * * *', 'Europe/Berlin', eve, 2)).toEqual([changed, '2026-03-29T01:15:00.000Z']);
    expect(next('0 0 * * *', 'America/Havana', '2026-03-07T12:00:00.000Z', 1)).toEqual([
      '2026-03-08T05:00:00.000Z',
    ]);
  });

  it('an hour field that begins with * follows elapsed time', () => {
    expect(next('30 * * * *', 'Europe/Berlin', '2026-03-29T00:00:00.000Z', 3)).toEqual([
      '2026-03-29T00:30:00.000Z',
      '2026-03-29T01:30:00.000Z',
      '2026-03-29T02:30:00.000Z',
    ]);
    expect(next('0 */2 * * *', 'Europe/Berlin', '2026-03-28T23:30:00.000Z', 2)).toEqual([
      '2026-03-29T02:00:00.000Z',
      '2026-03-29T04:00:00.000Z',
    ]);
  });

  it('a whole day may be skipped', () => {
    expect(next('0 9 30 12 *', 'Pacific/Apia', '2011-12-29T00:00:00.000Z', 1)).toEqual([
      '2011-12-30T10:00:00.000Z',
    ]);
  });
});

describe('where the clock repeats an hour', () => {
  it('a fixed hour fires the first time only', () => {
    expect(next('30 2 * * *', 'Europe/Berlin', '2026-10-24T12:00:00.000Z', 2)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-26T01:30:00.000Z',
    ]);
    expect(next('*/30 2 * * *', 'Europe/Berlin', '2026-10-25T00:45:00.000Z', 1)).toEqual([
      '2026-10-26T01:00:00.000Z',
    ]);
  });

  it('an hour field that begins with * follows elapsed time', () => {
    expect(next('30 * * * *', 'Europe/Berlin', '2026-10-25T00:00:00.000Z', 3)).toEqual([
      '2026-10-25T00:30:00.000Z',
      '2026-10-25T01:30:00.000Z',
      '2026-10-25T02:30:00.000Z',
    ]);
    expect(next('15 */2 * * *', 'Europe/Berlin', '2026-10-25T00:20:00.000Z', 2)).toEqual([
      '2026-10-25T01:15:00.000Z',
      '2026-10-25T03:15:00.000Z',
    ]);
  });
});

/** Mulberry32: the same numbers in every run. */
const seeded = (seed: number) => {
  let state = seed;
  return (below: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
};
type Random = ReturnType<typeof seeded>;

const ZONES = Intl.supportedValuesOf('timeZone');
const fieldOf = (random: Random, min: number, max: number): string => {
  const one = (): number => min + random(max - min + 1);
  const range = (): string => {
    const [low, high] = [one(), one()].sort((a, b) => a - b);
    return `${String(low)}-${String(high)}`;
  };
  switch (random(6)) {
    case 0:
      return `*/${String(2 + random(5))}`;
    case 1:
      return range();
    case 2:
      return `${range()}/${String(1 + random(5))}`;
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

const randomTriple = (random: Random): Triple => {
  const [minute, hour] = [fieldOf(random, 0, 59), fieldOf(random, 0, 23)];
  const month = random(3) === 0 ? fieldOf(random, 1, 12) : '*';
  // Only one of the two days is restricted: libraries disagree about `*/2` beside another one.
  const [day, weekday] = random(2) === 0 ? [fieldOf(random, 1, 28), '*'] : ['*', fieldOf(random, 0, 6)];
  const zone = ZONES[random(ZONES.length)] ?? 'UTC';
  const moment = Date.UTC(2015 + random(20), random(12), 1 + random(28), random(24), random(60), random(60));
  return { expression: [minute, hour, day, month, weekday].join(' '), zone, moment };
};

/** Whether the clocks of the zone change between two moments, or within a day of them. */
const hasChange = (zone: Zone, from: number, to: number): boolean => {
  const offset = zone.offsetAt(from - DAY_MS);
  for (let at = from - DAY_MS; at <= to + DAY_MS; at += DAY_MS) if (zone.offsetAt(at) !== offset) return true;
  return zone.offsetAt(to + DAY_MS) !== offset;
};
const DAY_MS = 86_400_000;

describe('10,000 random cron expressions, zones and moments', () => {
  it('have the same next time as in another library, wherever the clocks do not change', () => {
    const random = seeded(20_261_123);
    const different: unknown[] = [];
    let same = 0;
    for (let count = 0; count < 10_000; count++) {
      const { expression, zone, moment } = randomTriple(random);
      const ours = timesOf(expression, zone).after(moment);
      const theirs = CronExpressionParser.parse(expression, { tz: zone, currentDate: new Date(moment) })
        .next()
        .getTime();
      if (ours === theirs) same++;
      else if (!hasChange(zoneOf(zone), moment, Math.min(theirs, ours ?? theirs)))
        different.push({ expression, zone, moment: new Date(moment), ours, theirs });
    }
    expect(different).toEqual([]);
    expect(same).toBeGreaterThan(9_500);
  }, 180_000);
});

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

describe('random cron expressions around changes of clocks', () => {
  it('are the same times that a check of every single minute finds', () => {
    const random = seeded(29);
    for (const [zone, change] of CHANGES) {
      for (let count = 0; count < 12; count++) {
        const expression = `${fieldOf(random, 0, 59)} ${fieldOf(random, 0, 23)} * * *`;
        const moment = Date.parse(change) + (random(240) - 180) * MINUTE_MS;
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
