import { aboutIdentity } from '@berth/contracts/agents';
import { saysHandedOver } from '@berth/contracts/delivery';
import type { EventData } from '@berth/event-store';
import type { MeteredKind } from './metered-kind.js';
import {
  factReader,
  lifeReadings,
  membersOf,
  SHARED_CATEGORIES,
  text,
  time,
  type Reading,
} from './readings.js';
import type { RetriableMessage, UsageFact } from './usage-fact.js';

const used = (
  data: EventData,
  amounts: Readonly<Record<string, bigint>>,
  retriable: RetriableMessage | null = null,
): UsageFact => ({
  about: 'use',
  use: { boxId: text(data, 'agentId'), at: time(data), amounts, retriable },
});

const execution: Reading = (data) => used(data, { executions: 1n });

const chat: Reading = (data) => used(data, { chats: 1n });

const retriableChat =
  (answered: boolean): Reading =>
  (data) =>
    answered || saysHandedOver(text(data, 'code'))
      ? used(data, { chats: 1n }, { deliveryId: text(data, 'deliveryId'), answered })
      : null;

/** A call that was sent and is over counts when it began. A failed one has neither tokens nor a cost. */
const llmCall: Reading = (data) => {
  const { input = 0, output = 0 } = membersOf(data['tokens']);
  const amounts = {
    llm_requests: 1n,
    input_tokens: BigInt(Number(input)),
    output_tokens: BigInt(Number(output)),
    ai: BigInt(text(data, 'cost') || '0'),
  };
  const at = time(data, 'startedAt');
  return { about: 'use', use: { boxId: text(data, 'agentId'), at, amounts, retriable: null } };
};

/** Agents, and what is counted of them. */
export const AGENTS: MeteredKind = {
  tables: {
    boxes: 'usage_agents',
    days: 'usage_days',
    terms: 'usage_terms',
    plans: 'usage_plans',
    forgotten: 'usage_forgotten',
    failedChats: 'usage_failed_chats',
    latest: 'usage_latest',
  },
  id: 'agent_id',
  idMember: 'agentId',
  names: ['name', 'external_id', 'external_user_id'],
  uses: ['chats', 'executions', 'llm_requests', 'input_tokens', 'output_tokens', 'ai'],
  sharesSeats: true,
  categories: [
    ...SHARED_CATEGORIES,
    'agent',
    'delivery',
    'execution',
    'llmAccount',
    'olderExecution',
    'schedule',
    'webhookDelivery',
  ],
  factOf: factReader({
    ...lifeReadings('Agent', 'agentId'),
    ExecutionSubmitted: execution,
    LlmCallFailed: llmCall,
    LlmCallSettled: llmCall,
    MessageAnswered: retriableChat(true),
    MessageFailed: retriableChat(false),
    OlderExecutionSubmitted: execution,
    PromptHandedOver: chat,
    WebhookDelivered: chat,
    WebhookFailed: (data, event) => (saysHandedOver(text(data, 'code')) ? chat(data, event) : null),
  }),
  about: aboutIdentity,
};
