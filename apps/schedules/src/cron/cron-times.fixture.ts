import { CronTimes } from './cron-times.js';
import { Zone } from './zone.js';

export const timesOf = (expression: string, zone = 'UTC'): CronTimes => {
  const times = CronTimes.parse(expression, zoneOf(zone));
  if ('problem' in times) throw new Error(`${expression} ${times.problem}`);
  return times;
};

export const zoneOf = (name: string): Zone => {
  const zone = Zone.named(name);
  if (zone === undefined) throw new Error(`There is no zone ${name}.`);
  return zone;
};
