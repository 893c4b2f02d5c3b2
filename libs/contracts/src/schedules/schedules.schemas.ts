import Type from 'typebox';
import type { Shape } from '../schema/index.js';

/** Bounds of the list of schedules that an agent publishes. */
export const SCHEDULE_LIMITS = {
  entries: 100,
  idChars: 128,
  /** UTF-8. */
  promptBytes: 16 * 1024,
  cronChars: 256,
} as const;

/** `PUT /agent/v1/schedules`. The service that keeps the schedules validates them, because it also polls for them. */
export const publishSchedulesBody = Type.Object(
  {
    entries: Type.Unsafe<unknown>({
      type: 'array',
      description: `The complete list: at most ${SCHEDULE_LIMITS.entries} objects \`{id, cron?, tz?, nextRunAt?, prompt?}\`, each with \`cron\` or \`nextRunAt\`, which takes precedence. \`id\`: 1 to ${SCHEDULE_LIMITS.idChars} characters, unique in the list. \`cron\`: five fields, or \`@hourly\` \`@daily\` \`@weekly\` \`@monthly\` \`@yearly\`. \`tz\`: the name of an IANA zone, by default UTC. \`nextRunAt\`: ISO 8601. \`prompt\`: at most ${SCHEDULE_LIMITS.promptBytes} bytes of UTF-8. An empty list clears all.`,
    }),
  },
  { $id: 'PublishSchedulesBody' },
);
export type PublishSchedulesBody = Shape<typeof publishSchedulesBody>;
