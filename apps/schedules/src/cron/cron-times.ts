import { Cron } from 'croner';
import { Zone } from './zone.js';

const ALIASES: ReadonlyMap<string, string> = new Map([
  ['@hourly', '0 * * * *'],
  ['@daily', '0 0 * * *'],
  ['@weekly', '0 0 * * 0'],
  ['@monthly', '0 0 1 * *'],
  ['@yearly', '0 0 1 1 *'],
]);
/** Neither `?` nor `#`, which other dialects have; `L` and `W` remain only within names such as JUL and WED. */
const FIELD = /^[A-Za-z0-9*,/-]+$/;
const NAMES = /^(?:JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC|SUN|MON|TUE|WED|THU|FRI|SAT)$/i;
const NOT_PLAIN =
  'must contain only numbers, names of months and days of three letters, and the characters * , - /';
/** The longest pause between two 29ths of February that fall on a given weekday is 40 years. */
const MAX_LOOK_AHEAD_MS = 41 * 366 * 86_400_000;

/** The times of a cron expression in a time zone. */
export class CronTimes {
  private constructor(
    private readonly cron: Cron,
    private readonly zone: Zone,
    /** An hour field that begins with `*` follows elapsed time; any other means hours of the wall clock. */
    private readonly followsElapsedTime: boolean,
  ) {}

  /** Returns what is wrong with the expression, if it is not valid. */
  static parse(expression: string, zone: Zone): CronTimes | { readonly problem: string } {
    const fields = (ALIASES.get(expression) ?? expression).trim().split(/\s+/);
    if (expression.startsWith('@') && !ALIASES.has(expression))
      return { problem: `must have five fields or be one of ${[...ALIASES.keys()].join(', ')}` };
    if (fields.length !== 5) return { problem: 'must have five fields' };
    if (!fields.every(isPlain)) return { problem: NOT_PLAIN };
    let cron: Cron;
    try {
      cron = new Cron(fields.join(' '), { mode: '5-part', timezone: 'UTC', paused: true });
    } catch {
      return { problem: 'is not a cron expression' };
    }
    const now = Date.now();
    const first = cron.nextRun(new Date(now));
    if (first === null || first.getTime() - now > MAX_LOOK_AHEAD_MS) return { problem: 'never fires' };
    return new CronTimes(cron, zone, fields[1]?.startsWith('*') === true);
  }

  /** The first time after `instant`, both in milliseconds since the Unix epoch. */
  after(instant: number): number | null {
    return this.followsElapsedTime ? this.#elapsed(instant) : this.#onTheClock(instant);
  }

  /** A time that the clock skips fires when it changes; one that it repeats fires the first time. */
  #onTheClock(instant: number): number | null {
    let local = this.#nextLocal(this.zone.localAt(instant));
    while (local !== null) {
      const found = this.zone.firstInstantOf(local);
      // The clock was set back: these local times have been before.
      if (found > instant) return found;
      local = this.#nextLocal(local);
    }
    return null;
  }

  /** Every minute that passes has a local time, which fires or not. */
  #elapsed(instant: number): number | null {
    const setBack = this.zone.offsetAt(instant) - this.zone.offsetAt(instant + WITHIN_REACH_MS);
    let local = this.#nextLocal(this.zone.localAt(instant) - Math.max(0, setBack) - 1_000);
    let earliest: number | null = null;
    while (local !== null) {
      // Once the clock cannot be back at an earlier time, no later local time comes sooner.
      if (earliest !== null && local - this.zone.localAt(earliest) > Math.max(0, setBack)) return earliest;
      const found = this.zone.instantsOf(local).find((one) => one > instant);
      if (found !== undefined && (earliest === null || found < earliest)) earliest = found;
      if (earliest !== null && setBack <= 0) return earliest;
      local = this.#nextLocal(local);
    }
    return earliest;
  }

  #nextLocal(local: number): number | null {
    return this.cron.nextRun(new Date(local))?.getTime() ?? null;
  }
}

/** A clock that is set back later repeats no local time that is over by now. */
const WITHIN_REACH_MS = 86_400_000;

const isPlain = (field: string): boolean =>
  FIELD.test(field) && field.split(/[^A-Za-z]+/).every((word) => word === '' || NAMES.test(word));
