import type { ScheduleView } from '@berth/contracts/schedules';
import type { AgentSelf } from '../schedules/inside-agent.controller.js';
import {
  integer,
  list,
  object,
  number,
  text,
  textOrNull,
  time,
  timeOrNull,
  view,
  type JsonSchema,
} from './json-schema.js';

/** The schemas of responses about schedules, and of those to the programs of agents. */
export const SCHEDULE_SCHEMAS: { readonly [name: string]: JsonSchema } = {
  Schedules: object({
    items: list(
      view<ScheduleView>({
        id: text,
        cron: textOrNull,
        tz: textOrNull,
        nextRunAt: timeOrNull,
        prompt: textOrNull,
        source: { enum: ['polled', 'pushed'] },
        nextWakeAt: timeOrNull,
        lastRunAt: timeOrNull,
        lastError: { anyOf: [object({ code: text, message: text, at: time }), { type: 'null' }] },
      }),
    ),
  }),
  PublishedSchedules: object({ entries: integer }),
  AgentSelf: view<AgentSelf>({
    id: text,
    name: text,
    externalId: textOrNull,
    externalUserId: textOrNull,
    labels: { type: 'object', additionalProperties: { type: 'string' } },
    resources: object({ memMb: integer, vcpus: number, diskGb: integer }),
    idleTtlSeconds: integer,
  }),
};
