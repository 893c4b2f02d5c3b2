import Type, { type Static } from 'typebox';
import { cents } from './cents.schema.js';
import { section } from './section.schema.js';

/** Add-ons that plans can include. */
export const ADDONS = ['computers'] as const;

const MAX_AGENTS = 1_000_000;

const rates = section(
  {
    vcpuHourCents: Type.Optional(cents('For a vCPU of an active agent, for one hour.')),
    memGbHourCents: Type.Optional(cents('For a GiB of memory of an active agent, for one hour.')),
    diskGbMonthCents: Type.Optional(cents('For a GiB of disk of an agent, for 730 hours.')),
  },
  'Only of metered plans; 0 where left out.',
);

const plan = section({
  id: Type.String({ pattern: '^\\S{1,128}$', description: 'What accounts name. `default` must exist.' }),
  hosting: Type.Enum(['metered', 'seat']),
  rates: Type.Optional(rates),
  priceCentsPerMonth: Type.Optional(cents('Only of plans with seats, which must have it.')),
  maxAgents: Type.Optional(
    Type.Integer({
      minimum: 0,
      maximum: MAX_AGENTS,
      description: 'Agents of an account; if absent, no limit.',
    }),
  ),
  addons: Type.Optional(Type.Array(Type.Enum([...ADDONS]), { uniqueItems: true })),
});

/** The section `plans`. */
export const plansSchema = Type.Array(plan);
export type PlansText = Static<typeof plansSchema>;
