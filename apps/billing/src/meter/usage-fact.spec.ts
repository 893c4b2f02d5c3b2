import type { EventData, RecordedEvent } from '@berth/event-store';
import { describe, expect, it } from 'vitest';
import { recountBox } from '../recount/recount-box.js';
import { RecountReader } from '../recount/recount-history.js';
import { AGENTS } from './agents.kind.js';
import { UsageLedger } from './usage-ledger.js';

const AT = '2026-11-10T08:00:00.000Z';

let position = 0n;
const recorded = (stream: string, type: string, data: EventData): RecordedEvent => ({
  ...{ id: String(++position), stream, type, data: { agentId: 'agt_1', at: AT, ...data } },
  ...{ revision: 0n, position, createdAt: new Date(AT) },
  metadata: {
    ...{ correlationId: 'req_1', causationId: 'cmd_1', accountId: 'acc_1' },
    actor: { kind: 'system', id: 'test' },
  },
});

const created = recorded('agent-agt_1', 'AgentCreated.v3', {
  resources: { vcpus: 1, memMb: 512, diskGb: 1 },
  personal: { endUserId: null, data: { name: 'ada', externalId: null, externalUserId: null } },
});

type Event = readonly [type: string, code?: string | undefined, deliveryId?: string];

const eventsOf = (events: readonly Event[]): readonly RecordedEvent[] => [
  created,
  ...events.map(([type, code, deliveryId = 'dlv_1']) =>
    recorded(`delivery-${deliveryId}`, type, { deliveryId, ...(code === undefined ? {} : { code }) }),
  ),
];

/** As the projection counts and as the recount does; each event is a batch of its own. */
const countsOf = (
  events: readonly RecordedEvent[],
  member: { readonly use: 'chats' | 'active_ms'; readonly day: 'chats' | 'activeMs' },
): readonly number[] => {
  const state = {
    ...{ meters: new Map(), terms: new Map(), plans: new Map(), latestMs: 0 },
    ...{ forgotten: new Set<string>(), failedChats: new Set<string>() },
  };
  let counted = 0;
  for (const event of events) {
    const ledger = new UsageLedger(AGENTS, state);
    ledger.apply(event);
    counted += ledger.days.reduce((sum, { use }) => sum + Number(use[member.use]), 0);
  }
  const reader = new RecountReader('agent');
  for (const event of events) reader.read(event);
  const [agent] = reader.log().boxes;
  if (agent === undefined) throw new Error('The recount has no agent.');
  const days = [...recountBox(agent, [], Date.parse(AT)).values()];
  return [counted, days.reduce((sum, day) => sum + Number(day[member.day]), 0)];
};

const chatsOf = (...told: readonly Event[]): readonly number[] =>
  countsOf(eventsOf(told), { use: 'chats', day: 'chats' });

describe('a message', () => {
  it('does not count when it was accepted and never handed over', () => {
    expect(chatsOf(['MessageAccepted'])).toEqual([0, 0]);
    for (const code of [
      'agent_unavailable',
      'agent_stopped',
      'chat_unsupported',
      'delivery_lost',
      'rate_limited',
    ])
      expect(chatsOf(['MessageAccepted'], ['MessageFailed', code])).toEqual([0, 0]);
    expect(chatsOf(['MessageRefused', 'agent_stopped'])).toEqual([0, 0]);
  });

  it('counts when its program got it: answered, failed, late, or refused a call to a model', () => {
    expect(chatsOf(['MessageAccepted'], ['MessageAnswered'])).toEqual([1, 1]);
    for (const code of ['agent_error', 'agent_timeout', 'insufficient_credits', 'spend_cap_reached'])
      expect(chatsOf(['MessageAccepted'], ['MessageFailed', code])).toEqual([1, 1]);
  });

  it('counts once, however many attempts say that it was handed over', () => {
    const late: Event = ['MessageFailed', 'agent_timeout'];
    expect(chatsOf(late, late, ['MessageAnswered'])).toEqual([1, 1]);
    expect(chatsOf(['MessageFailed', 'agent_unavailable'], late, ['MessageFailed', 'agent_error'])).toEqual([
      1, 1,
    ]);
    expect(chatsOf(late, ['MessageAnswered', undefined, 'dlv_2'])).toEqual([2, 2]);
  });

  it('of a webhook or a schedule counts when it was handed over', () => {
    expect(chatsOf(['WebhookAccepted'], ['WebhookFailed', 'agent_unavailable'])).toEqual([0, 0]);
    expect(chatsOf(['WebhookDelivered'], ['PromptHandedOver'])).toEqual([2, 2]);
    expect(chatsOf(['WebhookFailed', 'agent_error'], ['WebhookFailed', 'agent_timeout'])).toEqual([2, 2]);
  });
});

describe('the time of an agent whose host was lost', () => {
  const at = (second: number): string => new Date(Date.parse(AT) - 100_000 + second * 1_000).toISOString();
  const told = (type: string, second: number, data: EventData = {}): RecordedEvent =>
    recorded('agent-agt_1', type, { at: at(second), ...data });
  const born = { ...created, data: { ...created.data, at: at(0) } };
  const lost = [
    ...[born, told('AgentStarting.v2', 0, { cause: 'deploy' }), told('AgentStarted', 10)],
    ...[told('AgentUnseen', 50, { since: at(20) }), told('AgentFailed', 50)],
  ];
  const secondsOf = (...events: readonly RecordedEvent[]): readonly number[] =>
    countsOf([...lost, ...events], { use: 'active_ms', day: 'activeMs' }).map((ms) => ms / 1_000);

  it('ends with the last report of the host, if the agent does not run any more when the host returns', () => {
    expect(secondsOf(told('AgentFellAsleep', 80))).toEqual([10, 10]);
  });

  it('goes on without a gap if the host returns and the agent has run on', () => {
    const back = [told('AgentRanUnseen', 80, { since: at(20) }), told('AgentStarted', 80)];
    expect(secondsOf(...back, told('AgentFellAsleep', 90))).toEqual([80, 80]);
    expect(secondsOf(...back, told('AgentStarting.v2', 80, { cause: 'restart' }))).toEqual([70, 70]);
  });
});
