import { setTimeout as sleep } from 'node:timers/promises';
import { Dice, eventually } from '@berth/testing';
import { expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { AgentSchedules, fromNow } from './schedules.fixture.js';
import type { SeparateStack } from './separate-processes.fixture.js';
import { Webhook } from './webhooks.fixture.js';

const SEEDS = [1, 13];
/** Below the rate of one caller. */
const INVOKES = 24;
const INVOKES_PER_KILL = 4;
/** The last ones keep the program busy while the queue is worked off. */
const SLOW_INVOKES = 8;
const KILLS_WHILE_QUEUED = 2;
const ENTRIES = 20;
/** Long enough to publish the list and to put the agent to sleep on a loaded machine. */
const FIRST_DUE_MS = 8_000;
const DUE_EVERY_MS = 300;
const ENDED = { timeoutMs: 60_000, intervalMs: 100 };

/** What `kill -9` of the services that send messages to agents does to those messages. */
export const describeKilledSenders = (stack: () => SeparateStack): void => {
  const api = new Api(stack);

  it.each(SEEDS)(
    'delivery, killed again and again amid acceptance and hand-over, loses, repeats and reorders no webhook (seed %i)',
    async (seed) => {
      const dice = new Dice(seed);
      const hook = await Webhook.ofProbe(stack, api);
      const { token } = await hook.token();
      const kill = async (): Promise<void> => {
        await sleep(dice.between(0, 120));
        await stack().replace('delivery');
      };
      const ids: string[] = [];
      const invoking = (async () => {
        for (let n = 0; n < INVOKES; n++) {
          const slowness = n < INVOKES - SLOW_INVOKES ? 50 : 400;
          const message = `slow ${String(slowness)} ${String(n)}`;
          const { status, body } = await hook.invokeUntilServed(message, { token });
          expect([n, status]).toEqual([n, 202]);
          ids.push(body.deliveryId);
        }
      })();
      for (let accepted = 1; accepted < INVOKES; accepted += INVOKES_PER_KILL) {
        await eventually(() => expect(ids.length).toBeGreaterThanOrEqual(accepted), ENDED);
        await kill();
      }
      await invoking;
      for (let count = 0; count < KILLS_WHILE_QUEUED; count++) {
        await eventually(async () => expect((await api.get('/health')).body['status']).toBe('ok'), ENDED);
        await kill();
      }
      for (const id of ids) expect(await hook.ended(id)).toMatchObject({ status: 'delivered' });
      const received = await hook.received();
      expect(received.map(({ delivery_id: id }) => id)).toEqual(ids);
      expect(await hook.deliveries()).toHaveLength(INVOKES);
    },
    240_000,
  );

  it.each(SEEDS)(
    'schedules, killed again and again amid firings, and delivery with it, fires each entry once (seed %i)',
    async (seed) => {
      const dice = new Dice(seed);
      const hook = await Webhook.ofProbe(stack, api);
      const own = new AgentSchedules(api, hook.agentId);
      const entries = Array.from({ length: ENTRIES }, (_, n) => ({
        id: `entry ${String(n)}`,
        nextRunAt: fromNow(FIRST_DUE_MS + n * DUE_EVERY_MS),
        prompt: `slow 200 ${String(n)}`,
      }));
      expect((await own.publish(...entries)).status).toBe(200);
      await own.sleep();
      const fired = async (): Promise<number> =>
        (await own.list()).body.items.filter(({ nextWakeAt }) => nextWakeAt === null).length;
      for (const most of [1, 5, 9, 13, 17]) {
        await eventually(async () => expect(await fired()).toBeGreaterThanOrEqual(most), ENDED);
        await sleep(dice.between(0, 150));
        const victims = ['schedules', 'schedules-2', ...(dice.percent(50) ? ['delivery'] : [])];
        await Promise.all(victims.map((name) => stack().replace(name)));
      }
      await eventually(
        async () => {
          const { items } = (await own.list()).body;
          expect(items.filter(({ lastRunAt }) => lastRunAt === null)).toEqual([]);
          expect(items.filter(({ lastError }) => lastError !== null)).toEqual([]);
          expect((await hook.received()).length).toBeGreaterThanOrEqual(ENTRIES);
        },
        { timeoutMs: 90_000, intervalMs: 250 },
      );
      const received = (await hook.received()).map(({ message }) => String(message));
      expect(received.toSorted()).toEqual(entries.map(({ prompt }) => prompt).toSorted());
    },
    240_000,
  );
};
