import { FAULTS } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  WebhookSimulation,
  type SeedFacts,
  type WebhookFacts,
} from '../fixtures/webhook-faults/webhook-simulation.fixture.js';

const SEEDS = 120;
const AT_ONCE = 8;

let simulation: WebhookSimulation;
let seeds: readonly SeedFacts[];

beforeAll(async () => {
  simulation = await WebhookSimulation.start();
  const left = Array.from({ length: SEEDS }, (_, index) => index + 1).values();
  const found: SeedFacts[] = [];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (const seed of left) found.push(await simulation.run(seed));
    }),
  );
  seeds = found;
}, 240_000);
afterAll(() => simulation.stop());

/** What is wrong with a webhook whose caller got its 202. */
const faultsOf = ({ planned: { program }, history, received }: WebhookFacts): readonly string[] => {
  const [first, last] = [history[0], history.at(-1)];
  const ends = history.filter((type) => type === 'WebhookDelivered' || type === 'WebhookFailed');
  const delivered = program === 'takes' || program === 'declines';
  return [
    ...(first === 'WebhookAccepted' ? [] : ['it was not accepted in the log']),
    ...(ends.length === 1 ? [] : [`it ended ${String(ends.length)} times`]),
    ...(last === (delivered ? 'WebhookDelivered' : 'WebhookFailed') ? [] : [`it ended as ${String(last)}`]),
    ...(received === (program === 'declines' ? 2 : 1)
      ? []
      : [`the program got it ${String(received)} times`]),
  ];
};

const brokenIn = ({ seed, webhooks, order, struck, left }: SeedFacts): readonly string[] => {
  const accepted = webhooks.map(({ deliveryId }) => deliveryId);
  const broken = [
    ...webhooks.flatMap((one) => faultsOf(one).map((fault) => `${one.planned.program}: ${fault}`)),
    ...(order.join() === accepted.join() ? [] : ['they arrived in another order']),
    ...(left === 0 ? [] : [`${String(left)} are still queued`]),
  ];
  return broken.map((one) => `seed ${String(seed)}: ${one} ${JSON.stringify(struck)}`);
};

describe('an accepted webhook, with a fault or a death at any step before and after its acceptance', () => {
  it('reaches the program once and in order, and ends with its real outcome', () => {
    expect(seeds.flatMap(brokenIn).join('\n')).toBe('');
    expect(seeds).toHaveLength(SEEDS);
  });

  it('met every fault at every step', () => {
    const struck = seeds.flatMap((one) => one.struck);
    expect(new Set(struck.map(({ kind }) => kind))).toEqual(new Set(FAULTS));
    const steps = new Set(struck.map(({ step }) => step.replace(/\.v1.*$/, '')));
    for (const step of ['log-read', 'log-append', 'tables', 'cmd.agents.ensure-awake', 'cmd.runtime.deliver'])
      expect(steps).toContain(step);
  });
});
