import { type GetUsage } from '@berth/contracts/billing';
import { MAX_USAGE_DAYS } from '@berth/contracts/schema';
import { DomainError } from '@berth/kernel';
import { DAY_MS, dayOf } from '../meter/utc-day.js';

const DEFAULT_DAYS = 30;

/** Days in UTC, `to` exclusive. */
export interface DayRange {
  readonly from: number;
  readonly to: number;
}

/** Errors: invalid `invalid_request`. */
export const rangeOf = ({ from, to }: Pick<GetUsage, 'from' | 'to'>, now: number): DayRange => {
  const end = to === null ? now : timeOf('to', to);
  const begin = from === null ? end - DEFAULT_DAYS * DAY_MS : timeOf('from', from);
  if (begin > end) throw invalid('from', 'must not be after `to`');
  const range = { from: dayOf(begin), to: Math.ceil(end / DAY_MS) };
  if (range.to - range.from > MAX_USAGE_DAYS)
    throw invalid('from', `must be at most ${MAX_USAGE_DAYS} days before \`to\``);
  return range;
};

const timeOf = (path: string, value: string): number => {
  const millis = Date.parse(value);
  if (Number.isNaN(millis)) throw invalid(path, 'must be a time in ISO 8601');
  return millis;
};

const invalid = (path: string, message: string): DomainError =>
  new DomainError('invalid', 'invalid_request', `\`${path}\` ${message}.`, { fields: [{ path, message }] });
