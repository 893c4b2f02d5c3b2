import { SCHEDULE_LIMITS } from '@berth/contracts/schedules';
import { hasLength, isStorable, utf8Bytes } from '@berth/contracts/schema';
import { isoTime } from '@berth/kernel';
import { CronTimes } from '../cron/cron-times.js';
import { DEFAULT_ZONE } from '../cron/known-cron-times.js';
import { Zone } from '../cron/zone.js';
import { parseRunAt } from './parse-run-at.js';

/** A valid entry; `nextRunAt` is ISO 8601 UTC with milliseconds. */
export interface ParsedEntry {
  readonly id: string;
  readonly cron: string | null;
  readonly tz: string | null;
  readonly nextRunAt: string | null;
  readonly prompt: string | null;
}

export type FieldProblem = { readonly path: string; readonly message: string };

export type ParsedEntries =
  | { readonly entries: readonly ParsedEntry[] }
  | { readonly problems: readonly [FieldProblem, ...FieldProblem[]] };

type Report = (member: string, message: string) => void;
type Members = Readonly<Record<string, unknown>>;

/** Validates the list of an agent. Null members count as absent; unknown ones are ignored. */
export const parseEntries = (value: unknown): ParsedEntries => {
  if (!Array.isArray(value)) return { problems: [{ path: 'entries', message: 'must be a list' }] };
  if (value.length > SCHEDULE_LIMITS.entries) {
    const message = `must contain at most ${SCHEDULE_LIMITS.entries} entries`;
    return { problems: [{ path: 'entries', message }] };
  }
  const problems: FieldProblem[] = [];
  const seen = new Set<string>();
  const entries = value.map((one: unknown, index) => {
    const path = `entries[${String(index)}]`;
    const report: Report = (member, message) =>
      problems.push({ path: member === '' ? path : `${path}.${member}`, message });
    if (typeof one === 'object' && one !== null && !Array.isArray(one))
      return parseEntry(one as Members, seen, report);
    report('', 'must be an object');
    return NO_ENTRY;
  });
  const [first, ...others] = problems;
  return first === undefined ? { entries } : { problems: [first, ...others] };
};

const NO_ENTRY: ParsedEntry = { id: '', cron: null, tz: null, nextRunAt: null, prompt: null };

const parseEntry = (members: Members, seen: Set<string>, report: Report): ParsedEntry => {
  const { tz: zone, cron: times, nextRunAt: runAt } = members;
  const id = parseId(members.id, seen, report);
  const tz = parseZone(zone ?? null, report);
  const cron = parseCron(times ?? null, Zone.named(tz ?? DEFAULT_ZONE), report);
  const nextRunAt = parseTime(runAt ?? null, report);
  if ((times ?? null) === null && (runAt ?? null) === null) report('', 'must have cron or nextRunAt');
  return { id, cron, tz, nextRunAt, prompt: parsePrompt(members.prompt ?? null, report) };
};

const parseId = (value: unknown, seen: Set<string>, report: Report): string => {
  if (typeof value !== 'string') {
    report('id', 'must be a string');
    return '';
  }
  const { idChars } = SCHEDULE_LIMITS;
  if (!hasLength(value, 1, idChars)) report('id', `must be 1 to ${idChars} characters long`);
  else if (!isStorable(value)) report('id', 'must be valid Unicode without NUL characters');
  else if (seen.has(value)) report('id', 'is given twice');
  seen.add(value);
  return value;
};

const parseZone = (value: unknown, report: Report): string | null => {
  if (value === null) return null;
  if (typeof value === 'string' && Zone.named(value) !== undefined) return value;
  report('tz', 'must be the name of an IANA time zone such as Europe/Berlin');
  return null;
};

const parseCron = (value: unknown, zone: Zone | undefined, report: Report): string | null => {
  if (value === null) return null;
  if (typeof value !== 'string' || value.length > SCHEDULE_LIMITS.cronChars) {
    report('cron', `must be a string of at most ${SCHEDULE_LIMITS.cronChars} characters`);
    return null;
  }
  if (zone === undefined) return null;
  const times = CronTimes.parse(value, zone);
  if ('problem' in times) report('cron', times.problem);
  return value;
};

const parseTime = (value: unknown, report: Report): string | null => {
  if (value === null) return null;
  const millis = parseRunAt(value);
  if (millis !== undefined) return isoTime(millis);
  report('nextRunAt', 'must be an ISO 8601 time with its zone, such as 2026-01-31T12:00:00.000Z');
  return null;
};

const parsePrompt = (value: unknown, report: Report): string | null => {
  if (value === null) return null;
  const { promptBytes } = SCHEDULE_LIMITS;
  if (typeof value !== 'string') report('prompt', 'must be a string');
  else if (!isStorable(value)) report('prompt', 'must be valid Unicode without NUL characters');
  else if (utf8Bytes(value) > promptBytes)
    report('prompt', `must contain at most ${promptBytes} bytes of UTF-8`);
  else return value;
  return null;
};
