import { agentsRequests } from '@berth/contracts/agents';
import { DomainError } from '@berth/kernel';
import { eventually, SteppedClock } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ServedDelivery } from '../fixtures/served-delivery.fixture.js';
import { AgentWebhooks } from '../fixtures/webhooks.fixture.js';

const HOUR_MS = 3_600_000;
const RETRY_MS = 2_000;
const HOLD_MS = 2_000;

const clock = new SteppedClock();
let delivery: ServedDelivery;
let agent: AgentWebhooks;

beforeAll(async () => {
  const config = { webhookRetryMs: [RETRY_MS, RETRY_MS], webhookHoldMs: HOLD_MS };
  delivery = await ServedDelivery.start(1_000_000, config, clock);
});
afterAll(() => delivery.stop());
beforeEach(() => {
  delivery.fakes.reset();
  agent = new AgentWebhooks(() => delivery);
});

describe.each([-HOUR_MS, HOUR_MS])('a webhook, while the clock is set by %i ms', (byMs) => {
  it('that was declined is offered again after at most the longest pause, once', async () => {
    let offered = 0;
    delivery.fakes.guest.runs(() => {
      offered += 1;
      if (offered === 1) throw new DomainError('unavailable', 'delivery_declined', 'Busy.');
      return 'taken';
    });
    const { deliveryId } = await agent.invoke();
    await eventually(async () => expect((await agent.find(deliveryId)).attempts).toBe(1));
    clock.step(byMs);
    expect(await agent.ended(deliveryId)).toMatchObject({ status: 'delivered', attempts: 2 });
    expect(offered).toBe(2);
  });

  it('that is held for a stopped agent is handed over once the agent runs', async () => {
    delivery.fakes.on(agentsRequests.ensureAwake, () => {
      throw new DomainError('conflict', 'agent_stopped', 'No.', {}, { effect: 'none' });
    });
    const asked = () => delivery.fakes.requestsOf(agentsRequests.ensureAwake).length;
    const { deliveryId } = await agent.invoke();
    await eventually(() => expect(asked()).toBeGreaterThan(0));
    clock.step(byMs);
    delivery.fakes.reset();
    expect(await agent.ended(deliveryId)).toMatchObject({ status: 'delivered', attempts: 1 });
  });
});
