import { jsonBody } from './body.js';
import { settingsOf, variable, type CallOptions } from './config.js';
import type { PublishedSchedules } from './schemas.generated.js';
import { Transport } from './transport.js';

/** A wake that an agent asks for. It needs `cron` or `nextRunAt`, which takes precedence. */
export interface ScheduleEntry {
  /** 1 to 128 characters, unique in the list. */
  readonly id: string;
  /** Five fields, or `@hourly`, `@daily`, `@weekly`, `@monthly`, `@yearly`. */
  readonly cron?: string | null | undefined;
  /** The IANA zone of `cron`, by default UTC. */
  readonly tz?: string | null | undefined;
  /** ISO 8601, or a `Date`. */
  readonly nextRunAt?: string | Date | null | undefined;
  /** Delivered to the agent's `POST /chat` right after the wake. */
  readonly prompt?: string | null | undefined;
}

const inside = (): { readonly baseUrl: string; readonly apiKey: string } | undefined => {
  const baseUrl = variable('BERTH_API_URL');
  const apiKey = variable('BERTH_AGENT_TOKEN');
  return baseUrl === undefined || apiKey === undefined ? undefined : { baseUrl, apiKey };
};

/** Whether this program runs inside an agent. */
export const insideAgent = (): boolean => inside() !== undefined;

/**
 * Publishes all wakes of the agent that this program is: `PUT /agent/v1/schedules`. They replace those before; an empty
 * list clears them. Outside an agent this does nothing and returns null.
 */
export const publishSchedules = async (
  entries: readonly ScheduleEntry[],
  options?: CallOptions,
): Promise<PublishedSchedules | null> => {
  const agent = inside();
  if (agent === undefined) return null;
  if (!Array.isArray(entries)) throw new TypeError('Schedules must be a list.');
  const call = { method: 'PUT', path: '/agent/v1/schedules', body: jsonBody({ entries }) };
  return new Transport(settingsOf(agent)).object(call, options);
};
