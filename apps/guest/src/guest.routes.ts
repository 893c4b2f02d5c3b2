import { GUEST_LIMITS, GUEST_ROUTES, type Generation } from '@berth/guest-protocol';
import { appRoutes } from './app/app-connections.js';
import { consoleRoutes } from './console/consoles.js';
import { executionRoutes, legacyExecutionRoutes } from './execution/execution.routes.js';
import type { Guest } from './guest.js';
import { readAbandonment, readDelivery, readEnvChange, readProgram, readShutDown } from './guest-requests.js';
import type { Route } from './server/guest-server.js';

/** The routes of a guest; `onShutDown` ends the process after the response is sent. */
export const guestRoutes = (guest: Guest, onShutDown: () => void): readonly Route[] => [
  {
    ...GUEST_ROUTES.health,
    handle: async () => {
      guest.resume();
      return guest.health();
    },
  },
  { ...GUEST_ROUTES.program, handle: async ({ body }) => guest.start(readProgram(body)) },
  { ...GUEST_ROUTES.env, handle: async ({ body }) => guest.replaceEnv(readEnvChange(body)) },
  { ...GUEST_ROUTES.deliver, handle: async ({ body }) => guest.deliver(readDelivery(body)) },
  { ...GUEST_ROUTES.delivery, handle: async ({ query }) => guest.findDelivery(query.get('id') ?? '') },
  { ...GUEST_ROUTES.schedules, handle: async () => guest.pollSchedules() },
  {
    ...GUEST_ROUTES.events,
    handle: async ({ query }) =>
      guest.events.read(
        Number(query.get('after') ?? 0),
        Math.min(Number(query.get('waitMs') ?? 0), GUEST_LIMITS.eventsWaitMs),
      ),
  },
  {
    ...GUEST_ROUTES.shutdown,
    handle: async ({ body }) => {
      await guest.shutDown(readShutDown(body).graceMs);
      setImmediate(onShutDown);
      return {};
    },
  },
  ...appRoutes(guest.apps),
  ...byGeneration[guest.generation](guest),
];

/** Each generation has only its own routes besides the common ones. */
const byGeneration: Readonly<Record<Generation, (guest: Guest) => readonly Route[]>> = {
  current: (guest) => [
    {
      ...GUEST_ROUTES.abandonDelivery,
      handle: async ({ body }) => guest.abandonDelivery(readAbandonment(body)),
    },
    {
      ...GUEST_ROUTES.failExecutions,
      handle: async () => {
        await guest.quiesce();
        return {};
      },
    },
    ...executionRoutes(guest.executions),
    ...consoleRoutes(guest.consoles),
  ],
  legacy: (guest) => legacyExecutionRoutes(guest.legacyExecutions),
};
