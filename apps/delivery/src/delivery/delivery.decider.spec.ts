import { decideGiven } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { deliveryDecider, type DeliveryCommand } from './delivery.decider.js';
import type { DeliveryEvent } from './delivery.js';

const at = '2026-11-21T10:00:00.000Z';
const data = {
  deliveryId: 'dlv_1',
  agentId: 'agt_1',
  conversationId: 'cnv_1',
  kind: 'chat',
  messageLength: 5,
  at,
} as const;
const accepted: DeliveryEvent = { type: 'MessageAccepted', data };
const answered: DeliveryEvent = {
  type: 'MessageAnswered',
  data: { deliveryId: 'dlv_1', agentId: 'agt_1', responseLength: 7, at },
};
const failed: DeliveryEvent = {
  type: 'MessageFailed',
  data: { deliveryId: 'dlv_1', agentId: 'agt_1', code: 'agent_error', at },
};
const answer: DeliveryCommand = { type: 'Answer', responseLength: 7, at };
const fail: DeliveryCommand = { type: 'Fail', code: 'agent_error', at };

describe('a delivery', () => {
  it('is accepted once', () => {
    expect(decideGiven(deliveryDecider, [], { type: 'Accept', ...data }).events).toEqual([accepted]);
    expect(decideGiven(deliveryDecider, [accepted], { type: 'Accept', ...data }).events).toEqual([]);
  });

  it('ends answered or failed', () => {
    expect(decideGiven(deliveryDecider, [accepted], answer).events).toEqual([answered]);
    expect(decideGiven(deliveryDecider, [accepted], fail).events).toEqual([failed]);
  });

  it('keeps its answer, or its first failure', () => {
    expect(decideGiven(deliveryDecider, [accepted, answered], answer).events).toEqual([]);
    expect(decideGiven(deliveryDecider, [accepted, answered], fail).events).toEqual([]);
    expect(decideGiven(deliveryDecider, [accepted, failed], fail).events).toEqual([]);
  });

  it('ends with the failure that the agent itself reports, even if another one was recorded first', () => {
    const away: DeliveryEvent = {
      type: 'MessageFailed',
      data: { ...failed.data, code: 'agent_unavailable' },
    };
    const again: DeliveryCommand = { type: 'Fail', code: 'delivery_lost', at };
    expect(decideGiven(deliveryDecider, [accepted, away], fail).events).toEqual([failed]);
    expect(decideGiven(deliveryDecider, [accepted, away], again).events).toEqual([]);
    expect(decideGiven(deliveryDecider, [accepted, away, failed], again).events).toEqual([]);
  });

  it('records once that its program got it, even if another failure was recorded first', () => {
    const failedAs = (code: string): DeliveryEvent => ({
      type: 'MessageFailed',
      data: { ...failed.data, code },
    });
    const [away, late] = [failedAs('agent_unavailable'), failedAs('agent_timeout')];
    const timeOut: DeliveryCommand = { type: 'Fail', code: 'agent_timeout', at };
    expect(decideGiven(deliveryDecider, [accepted, away], timeOut).events).toEqual([late]);
    expect(decideGiven(deliveryDecider, [accepted, away, late], timeOut).events).toEqual([]);
    expect(decideGiven(deliveryDecider, [accepted, failed], timeOut).events).toEqual([]);
  });

  it('can be answered after it was recorded as failed', () => {
    expect(decideGiven(deliveryDecider, [accepted, failed], answer).events).toEqual([answered]);
    expect(decideGiven(deliveryDecider, [accepted, failed, answered], answer).events).toEqual([]);
  });

  it('cannot be accepted after a refusal, nor refused after acceptance', () => {
    const refuse: DeliveryCommand = { type: 'Refuse', deliveryId: 'dlv_1', agentId: 'agt_1', code: 'x', at };
    const { events } = decideGiven(deliveryDecider, [], refuse);
    expect(events).toMatchObject([{ type: 'MessageRefused', data: { code: 'x' } }]);
    for (const command of [refuse, answer, fail, { type: 'Accept', ...data } as const])
      expect(decideGiven(deliveryDecider, events, command).events).toEqual([]);
    for (const history of [[accepted], [accepted, answered], [accepted, failed]])
      expect(decideGiven(deliveryDecider, history, refuse).events).toEqual([]);
  });

  it('has no outcome before it was accepted', () => {
    expect(decideGiven(deliveryDecider, [], answer).events).toEqual([]);
  });

  it('never carries the message into the log', () => {
    const { events } = decideGiven(deliveryDecider, [], { type: 'Accept', ...data });
    expect(Object.keys(events[0]?.data ?? {}).sort()).toEqual([
      'agentId',
      'at',
      'conversationId',
      'deliveryId',
      'kind',
      'messageLength',
    ]);
  });
});
