import { setTimeout as sleep } from 'node:timers/promises';
import type { Chat, ChatReply } from '@berth/contracts-delivery';
import type { DeliverMessage } from '@berth/contracts-runtime';
import { deriveId, isDomainError, newId } from '@berth/kernel';
import { envelope } from '../fixtures/served-delivery.fixture.js';
import { planOf, type Message, type Plan, type Strike } from './chat-plan.fixture.js';
import type { ChatWorld } from './chat-world.fixture.js';
import { FaultyProcess } from './faulty-process.fixture.js';

/** What a caller was told: the gateway's own distinction, by which it keeps or frees an Idempotency-Key. */
export type Told =
  | { readonly kind: 'answered'; readonly reply: ChatReply }
  | { readonly kind: 'failed' | 'not-done' | 'unknown'; readonly code: string };

export interface Tried {
  /** Whether it said that an earlier try may have been carried out. */
  readonly repeated: boolean;
  readonly told: Told;
  readonly struck: readonly Strike[];
}

/** One command, and what came of it. */
export interface Case {
  readonly text: string;
  readonly message: Message;
  readonly deliveryId: string;
  readonly tries: readonly Tried[];
  /** How often the program had the message when the last try was over. */
  readonly receivedThen: number;
}

/** All that is known of one seed afterwards. */
export interface Facts {
  readonly plan: Plan;
  readonly agentId: string;
  readonly cases: readonly Case[];
}

const UNKNOWN: ReadonlySet<string> = new Set([
  'connection_lost',
  'deadline_exceeded',
  'internal_error',
  'service_unavailable',
]);

/** Sends the messages of a seed, each until its caller knows what came of it. */
export const runCase = async (world: ChatWorld, seed: number): Promise<Facts> => {
  const plan = planOf(seed);
  const agentId = newId('agt');
  world.bring(agentId, plan.agent);
  const cases: Case[] = [];
  for (const [index, message] of plan.messages.entries()) {
    const text = `${String(seed)}/${String(index)}`;
    world.expect(text, message.program);
    cases.push(await send(world, agentId, text, message));
  }
  return { plan, agentId, cases };
};

const send = async (world: ChatWorld, agentId: string, text: string, message: Message): Promise<Case> => {
  const { conversationId } = message;
  const chat: Chat = { ...envelope(), agentId, message: text, conversationId };
  const processes: FaultyProcess[] = [];
  const running: Promise<Tried>[] = [];
  for (const [index, one] of message.tries.entries()) {
    if (one.agent !== null) world.bring(agentId, one.agent);
    const process = new FaultyProcess(world, one.strikes);
    processes.push(process);
    const repeated = index > 0;
    const trying = tellOf(process.chat({ ...chat, repeated })).then((told) => ({
      repeated,
      told,
      struck: process.struck,
    }));
    running.push(trying);
    const isLast = index === message.tries.length - 1;
    if (one.overlapped && !isLast) await sleep(5 + (index % 3) * 20);
    else if ((await trying).told.kind !== 'unknown') break;
  }
  const tries = await Promise.all(running);
  await Promise.all(processes.map((process) => process.stop()));
  const receivedThen = receiptsOf(world.received(agentId), text).length;
  return { text, message, deliveryId: deriveId('dlv', chat.commandId), tries, receivedThen };
};

/** The messages with that text. */
export const receiptsOf = (received: readonly DeliverMessage[], text: string): readonly DeliverMessage[] =>
  received.filter(({ message }) => message === text);

const tellOf = async (chat: Promise<ChatReply>): Promise<Told> => {
  try {
    return { kind: 'answered', reply: await chat };
  } catch (error) {
    if (!isDomainError(error)) return { kind: 'unknown', code: String(error) };
    const { code, context } = error;
    if (UNKNOWN.has(code) || context['mayHaveBeenDone'] === true) return { kind: 'unknown', code };
    return { kind: code === 'agent_error' ? 'failed' : 'not-done', code };
  }
};
