import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { GUEST_ROUTES } from '@berth/guest-protocol';
import type { ActionPlan } from '@berth/contracts/computers/plan';
import { notUnderstood } from '../../guest-requests.js';
import { parseJson, readBody } from '../../server/read-json.js';
import type { StreamRoute } from '../../server/stream-route.js';
import type { Batches } from './batches.js';
import { piecesOf, type BatchOutcome } from './outcome.js';

/** How often a caller gets an empty line while it waits. */
const LINE_EVERY_MS = 1_000;

/** `POST /v1/desktop/actions` */
export const actionsRoute = (batches: Batches): StreamRoute => ({
  ...GUEST_ROUTES.actions,
  stream: async ({ request, response }) => {
    const body = await readBody(request);
    // A plan is read when its turn comes: a hundred that wait would fill the memory of the guest.
    const outcome = batches.accept(() => readPlan(parseJson(body)));
    response.writeHead(200, { 'content-type': 'application/json' });
    response.flushHeaders();
    const lines = setInterval(() => response.write('\n'), LINE_EVERY_MS);
    try {
      const known = await outcome;
      clearInterval(lines);
      await write(response, known);
    } finally {
      clearInterval(lines);
    }
  },
});

/** Checks what a mismatch of versions would break; the plan itself is checked before it is sent. */
const readPlan = (body: unknown): ActionPlan => {
  const { units, stopOnError, screen } = (body ?? {}) as Partial<ActionPlan>;
  if (Array.isArray(units) && typeof stopOnError === 'boolean' && screen !== undefined)
    return body as ActionPlan;
  throw notUnderstood();
};

const write = async (response: ServerResponse, outcome: BatchOutcome): Promise<void> => {
  // A caller that hangs up wants no more of it.
  await pipeline(Readable.from(piecesOf(outcome)), response).catch(() => undefined);
};
