import Type from 'typebox';
import { diskGb, IDLE_SECONDS_TEXT, idleSeconds, memMb, vcpus } from './agent-sizes.js';
import { whole } from './members.js';
import type { Shape } from './shapes.js';

const MAX_CENTS = 100_000_000;
const MAX_MINUTES = 1_000_000;
const MAX_WAKES = 3_600;

/** The limits and sizes of an end user's agents. A member that is absent limits nothing. */
export const policy = Type.Object(
  {
    llm_spend_cap_cents_per_month: Type.Optional(
      whole(0, MAX_CENTS, { description: 'Most cents of LLM calls in a month (UTC).' }),
    ),
    compute_minutes_cap: Type.Optional(
      whole(0, MAX_MINUTES, { description: 'Most minutes that its agents are awake in a month (UTC).' }),
    ),
    wakes_per_hour: Type.Optional(
      whole(0, MAX_WAKES, {
        description: 'Most starts from sleeping or stopped of all its agents in 60 minutes.',
      }),
    ),
    idle_sleep_seconds: Type.Optional(
      idleSeconds({
        description: `Replaces the \`idleTtlSeconds\` of its agents: ${IDLE_SECONDS_TEXT}.`,
      }),
    ),
    mem_mb: Type.Optional(memMb({ description: 'MiB of memory of each agent, from its next start on.' })),
    vcpus: Type.Optional(vcpus({ description: 'CPUs of each agent, from its next start on.' })),
    disk_gb: Type.Optional(
      diskGb({
        description: 'GiB of disk of each agent, from its next start on. No volume is ever made smaller.',
      }),
    ),
  },
  { $id: 'Policy', additionalProperties: false },
);
export type Policy = Shape<typeof policy>;
