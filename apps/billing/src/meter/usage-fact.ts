import { saysHandedOver } from '@berth/contracts/delivery';
import type { EventData, RecordedEvent } from '@berth/event-store';
import type { Json } from '@berth/kernel';
import type { Personal } from '@berth/personal-data';
import type { Plan } from '../pricing/pricing.js';
import { plansIn } from '../pricing/pricing.events.js';

/** Sizes of an agent as whole numbers: millionths of a CPU, MiB, GiB. */
export interface Sizes {
  readonly vcpuMicros: number;
  readonly memMb: number;
  readonly diskGb: number;
}

export interface Identity {
  readonly name: string | null;
  readonly externalId: string | null;
  readonly externalUserId: string | null;
}

export interface LlmCall {
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** Millionths of a cent. */
  readonly cost: bigint;
}

/** A message with several attempts: each can say that it was handed over, and it counts once. */
export interface RetriableMessage {
  readonly deliveryId: string;
  /** Nothing follows the answer to a message. */
  readonly answered: boolean;
}

/** Something of an agent that its meter counts or acts on. `at`, `since`: Unix milliseconds. */
export type AgentFact = { readonly agentId: string; readonly at: number } & (
  | { readonly kind: 'created'; readonly sizes: Sizes; readonly personal: Personal<Identity> }
  | { readonly kind: 'resized'; readonly sizes: Sizes }
  | { readonly kind: 'starting'; readonly cause: string }
  | { readonly kind: 'running' | 'resting' | 'failed' | 'deleted' | 'execution' }
  | { readonly kind: 'chat'; readonly retriable: RetriableMessage | null }
  /** Its host last reported at `since`; when it really ended is not known. */
  | { readonly kind: 'unseen'; readonly since: number }
  /** Its host is back: it has run since then. */
  | { readonly kind: 'ranUnseen'; readonly since: number }
  /** A call that was sent and is over; `at` is when it began. */
  | { readonly kind: 'llm'; readonly call: LlmCall }
);

/** What the log says about usage and its price. */
export type UsageFact =
  | { readonly about: 'agent'; readonly fact: AgentFact }
  | { readonly about: 'account'; readonly accountId: string; readonly planId: string; readonly at: number }
  | { readonly about: 'plans'; readonly plans: readonly Plan[]; readonly at: number }
  | { readonly about: 'forgotten'; readonly endUserId: string };

/** The categories of the streams that usage is counted from. */
export const METERED_CATEGORIES: readonly string[] = [
  'account',
  'agent',
  'delivery',
  'endUser',
  'execution',
  'llmAccount',
  'olderExecution',
  'pricing',
  'schedule',
  'webhookDelivery',
];

type Reading = (data: EventData, event: RecordedEvent) => UsageFact | null;

const text = (data: EventData, member: string): string => {
  const value = data[member];
  return typeof value === 'string' ? value : '';
};

const time = (data: EventData, member = 'at'): number => Date.parse(text(data, member));

type Unplaced<Fact> = Fact extends AgentFact ? Omit<Fact, 'agentId' | 'at'> : never;

const ofAgent = (data: EventData, fact: Unplaced<AgentFact>): UsageFact => ({
  about: 'agent',
  fact: { ...fact, agentId: text(data, 'agentId'), at: time(data) } as AgentFact,
});

const simply =
  (kind: 'running' | 'resting' | 'failed' | 'deleted' | 'execution'): Reading =>
  (data) =>
    ofAgent(data, { kind });

const chat: Reading = (data) => ofAgent(data, { kind: 'chat', retriable: null });

const retriableChat =
  (answered: boolean): Reading =>
  (data) =>
    answered || saysHandedOver(text(data, 'code'))
      ? ofAgent(data, { kind: 'chat', retriable: { deliveryId: text(data, 'deliveryId'), answered } })
      : null;

type Members = { readonly [name: string]: Json | undefined };

const membersOf = (value: Json | undefined): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};

const VCPU_MICROS = 1_000_000;

const sizesIn = (data: EventData): Sizes => {
  const { vcpus, memMb, diskGb } = membersOf(data['resources']);
  return {
    vcpuMicros: Math.round(Number(vcpus) * VCPU_MICROS),
    memMb: Number(memMb),
    diskGb: Number(diskGb),
  };
};

const textOrNull = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);

/** Earlier versions of the creation have the identity in plaintext. */
const personalIn = (data: EventData): Personal<Identity> => {
  const { endUserId, sealed, data: clear } = membersOf(data['personal']);
  if (typeof endUserId === 'string' && typeof sealed === 'string') return { endUserId, sealed };
  const { name, externalId, externalUserId } = data['personal'] === undefined ? data : membersOf(clear);
  return {
    endUserId: null,
    data: {
      name: textOrNull(name),
      externalId: textOrNull(externalId),
      externalUserId: textOrNull(externalUserId),
    },
  };
};

/** A failed call has neither tokens nor a cost. */
const llmCall: Reading = (data) => {
  const { input = 0, output = 0 } = membersOf(data['tokens']);
  const call = {
    inputTokens: Number(input),
    outputTokens: Number(output),
    cost: BigInt(text(data, 'cost') || '0'),
  };
  const at = time(data, 'startedAt');
  return { about: 'agent', fact: { kind: 'llm', call, agentId: text(data, 'agentId'), at } };
};

const planOf =
  (since: string): Reading =>
  (data) => ({
    about: 'account',
    accountId: text(data, 'accountId'),
    planId: text(data, 'plan'),
    at: time(data, since),
  });

/** The counted event types, without their versions. */
const READINGS: Readonly<Record<string, Reading>> = {
  AccountOpened: planOf('openedAt'),
  AccountChanged: planOf('changedAt'),
  AgentCreated: (data) =>
    ofAgent(data, { kind: 'created', sizes: sizesIn(data), personal: personalIn(data) }),
  AgentResized: (data) => ofAgent(data, { kind: 'resized', sizes: sizesIn(data) }),
  AgentStarting: (data) => ofAgent(data, { kind: 'starting', cause: text(data, 'cause') }),
  AgentStarted: simply('running'),
  AgentStopping: simply('resting'),
  AgentFellAsleep: simply('resting'),
  AgentStopped: simply('resting'),
  AgentFailed: simply('failed'),
  AgentDeletionRequested: simply('deleted'),
  AgentUnseen: (data) => ofAgent(data, { kind: 'unseen', since: time(data, 'since') }),
  AgentRanUnseen: (data) => ofAgent(data, { kind: 'ranUnseen', since: time(data, 'since') }),
  EndUserDeleted: (data) => ({ about: 'forgotten', endUserId: text(data, 'endUserId') }),
  ExecutionSubmitted: simply('execution'),
  LlmCallFailed: llmCall,
  LlmCallSettled: llmCall,
  MessageAnswered: retriableChat(true),
  MessageFailed: retriableChat(false),
  OlderExecutionSubmitted: simply('execution'),
  PlansRead: (data) => ({ about: 'plans', plans: plansIn(data), at: time(data) }),
  PromptHandedOver: chat,
  WebhookDelivered: chat,
  WebhookFailed: (data, event) => (saysHandedOver(text(data, 'code')) ? chat(data, event) : null),
};

/** Returns null for an event that changes no usage. */
export const factOf = (event: RecordedEvent): UsageFact | null =>
  READINGS[event.type.replace(/\.v\d+$/, '')]?.(event.data, event) ?? null;
