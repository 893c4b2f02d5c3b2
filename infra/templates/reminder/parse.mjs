const SECONDS = { second: 1, minute: 60, hour: 3_600, day: 86_400 };
const DAYS = {
  ...{ day: '*', weekday: '1-5', sunday: '0', monday: '1', tuesday: '2', wednesday: '3', thursday: '4' },
  ...{ friday: '5', saturday: '6' },
};

/** Reads a message: a reminder to publish, or one of the commands `list`, `reminded` and `forget`. */
export const parse = (message, { now, timeZone }) => {
  const text = message.trim().replace(/[.!]+$/, '');
  return once(text, now) ?? repeatedly(text, timeZone) ?? { kind: wordOf(text) };
};

/** "remind me in 2 minutes to stretch" */
const once = (text, now) => {
  const match = /^(?:please )?remind me in (an?|\d+) (second|minute|hour|day)s?(?: to| of|:)? (.+)$/i.exec(
    text,
  );
  if (match === null) return undefined;
  const [, count, unit, what] = match;
  const seconds = (/^an?$/i.test(count) ? 1 : Number(count)) * SECONDS[unit.toLowerCase()];
  return { kind: 'remind', reminder: { what, nextRunAt: new Date(now + seconds * 1000).toISOString() } };
};

/** "every weekday at 9", "remind me every monday at 5:30 pm to water the plants" */
const repeatedly = (text, timeZone) => {
  const match =
    /^(?:remind me )?every (\w+?)s? at (\d{1,2})(?::(\d\d))? ?(am|pm)?(?:(?: to| of|:|,)? (.+))?$/i.exec(
      text,
    );
  const days = match === null ? undefined : DAYS[match[1].toLowerCase()];
  if (days === undefined) return undefined;
  const [, , hour, minute = '0', half = '', what = 'start'] = match;
  const hours = half === '' ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'pm' ? 12 : 0);
  if (hours > 23 || Number(minute) > 59) return undefined;
  return { kind: 'remind', reminder: { what, cron: `${Number(minute)} ${hours} * * ${days}`, tz: timeZone } };
};

const wordOf = (text) => {
  if (/^list$/i.test(text)) return 'list';
  if (/^(history|what did i miss\??)$/i.test(text)) return 'reminded';
  return /^forget( everything| all)?$/i.test(text) ? 'forget' : 'unknown';
};
