import { describe, expect, it } from 'vitest';

interface Parsed {
  readonly kind: string;
  readonly reminder?: Readonly<Record<string, string>>;
}

interface Parser {
  parse(message: string, at: { readonly now: number; readonly timeZone: string }): Parsed;
}

const PARSER = new URL('../../../../infra/templates/reminder/parse.mjs', import.meta.url).href;
const { parse } = (await import(PARSER)) as Parser;

const NOW = Date.parse('2026-11-23T10:00:00.000Z');
const read = (message: string): Parsed => parse(message, { now: NOW, timeZone: 'Europe/Berlin' });

describe('a message to the template reminder', () => {
  it.each([
    ['remind me in 2 minutes to stretch', '2026-11-23T10:02:00.000Z', 'stretch'],
    ['Remind me in 90 seconds: tea!', '2026-11-23T10:01:30.000Z', 'tea'],
    ['please remind me in an hour of the call.', '2026-11-23T11:00:00.000Z', 'the call'],
    ['remind me in a day to water the plants', '2026-11-24T10:00:00.000Z', 'water the plants'],
  ])('%j is one time', (message, nextRunAt, what) => {
    expect(read(message)).toEqual({ kind: 'remind', reminder: { what, nextRunAt } });
  });

  it.each([
    ['every weekday at 9', '0 9 * * 1-5', 'start'],
    ['Every day at 18:30 to close the shop', '30 18 * * *', 'close the shop'],
    ['remind me every monday at 5:05 pm to water the plants', '5 17 * * 1', 'water the plants'],
    ['every sundays at 12 am: rest', '0 0 * * 0', 'rest'],
    ['every saturday at 12pm, lunch', '0 12 * * 6', 'lunch'],
  ])('%j is a cron expression in the zone of the agent', (message, cron, what) => {
    expect(read(message)).toEqual({ kind: 'remind', reminder: { what, cron, tz: 'Europe/Berlin' } });
  });

  it.each([
    ['list', 'list'],
    [' List. ', 'list'],
    ['history', 'reminded'],
    ['What did I miss?', 'reminded'],
    ['forget', 'forget'],
    ['forget everything!', 'forget'],
    ['', 'unknown'],
    ['every weekday at 25', 'unknown'],
    ['every weekday at 9:61', 'unknown'],
    ['every fortnight at 9', 'unknown'],
    ['remind me in 2 minutes', 'unknown'],
    ['remind me in two minutes to stretch', 'unknown'],
  ])('%j is %s', (message, kind) => {
    expect(read(message)).toEqual({ kind });
  });
});
