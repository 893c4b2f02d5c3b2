import { describe, expect, it } from 'vitest';
import { CronTimes } from './cron-times.js';
import { timesOf, zoneOf } from './cron-times.fixture.js';
import { Zone } from './zone.js';

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
