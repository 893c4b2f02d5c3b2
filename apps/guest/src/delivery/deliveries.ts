import { setTimeout as delay } from 'node:timers/promises';
import { isDomainError } from '@berth/kernel';
import {
  GUEST_LIMITS,
  toDeliveryReport,
  type DeliverToProgram,
  type DeliveryOutcome,
  type DeliveryReport,
  type ProgramAnswer,
} from '@berth/guest-protocol';
import type { Endpoint } from '../program/readiness.js';
import { agentTimeout, callProgram, NotConnected } from './call-program.js';
import { ConversationQueue } from './conversation-queue.js';
import type { DeliveryJournal } from './delivery-journal.js';
import { notHandedOver, outcomeUnknown, replay } from './delivery-record.js';

/** How long a message waits for a program that is being started again. */
const PROGRAM_WITHIN_MS = 10_000;
const RECONNECT_PAUSE_MS = 50;

/** Where the program is found; undefined when it does not come up within so many milliseconds. */
export type FindProgram = (withinMs: number) => Promise<Endpoint | undefined>;

/**
 * Hands messages to the agent's program: those of one conversation one at a time and in order, none of them twice.
 * A message that comes again joins the first or gets its answer. Nobody's leaving cancels anything.
 */
export class Deliveries {
  readonly #running = new Map<string, Promise<ProgramAnswer>>();
  readonly #conversations = new ConversationQueue();

  constructor(
    private readonly journal: DeliveryJournal,
    private readonly findProgram: FindProgram,
    private readonly chatMs: number = GUEST_LIMITS.chatMs,
  ) {}

  deliver(message: DeliverToProgram): Promise<ProgramAnswer> {
    const { deliveryId } = message;
    const running = this.#running.get(deliveryId);
    if (running !== undefined) return running;
    const fresh = this.#deliverOnce(message).finally(() => this.#running.delete(deliveryId));
    this.#running.set(deliveryId, fresh);
    return fresh;
  }

  find(deliveryId: string): DeliveryReport {
    return this.#running.has(deliveryId)
      ? { state: 'open' }
      : toDeliveryReport(this.journal.find(deliveryId));
  }

  async #deliverOnce(message: DeliverToProgram): Promise<ProgramAnswer> {
    const known = this.journal.find(message.deliveryId);
    if (known !== undefined) {
      if (known.outcome === undefined) throw outcomeUnknown();
      return replay(known.outcome);
    }
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(agentTimeout(false)), this.chatMs);
    try {
      return await this.#conversations.run(
        message.conversationId,
        () => this.#handOver(message, deadline.signal),
        deadline.signal,
      );
    } finally {
      clearTimeout(timer);
    }
  }

  async #handOver(message: DeliverToProgram, signal: AbortSignal): Promise<ProgramAnswer> {
    const until = performance.now() + PROGRAM_WITHIN_MS;
    for (;;) {
      const endpoint = await this.findProgram(Math.max(0, until - performance.now()));
      if (endpoint === undefined) throw notHandedOver("The agent's program is not running just now.");
      try {
        return await this.#handOverOnce(endpoint, message, signal);
      } catch (error) {
        if (!(error instanceof NotConnected)) throw error;
        if (signal.aborted || performance.now() >= until) {
          throw notHandedOver("The agent's program does not take connections just now.");
        }
        // It died a moment ago, and its end has not been noticed yet.
        await delay(RECONNECT_PAUSE_MS);
      }
    }
  }

  async #handOverOnce(
    endpoint: Endpoint,
    message: DeliverToProgram,
    signal: AbortSignal,
  ): Promise<ProgramAnswer> {
    const { deliveryId } = message;
    await this.journal.handed(deliveryId).catch(() => {
      throw notHandedOver('The host of the agent could not write down the message.');
    });
    try {
      const answer = await callProgram(endpoint, message, signal);
      await this.#note(deliveryId, { type: 'answered', response: answer.response });
      return answer;
    } catch (error) {
      if (error instanceof NotConnected) await this.journal.released(deliveryId).catch(() => undefined);
      if (isDomainError(error)) {
        const { kind, code, message: words } = error;
        await this.#note(deliveryId, { type: 'failed', kind, code, message: words });
      }
      throw error;
    }
  }

  async #note(deliveryId: string, outcome: DeliveryOutcome): Promise<void> {
    // An outcome that cannot be written down is still the answer; only a repetition would not find it.
    await this.journal.ended(deliveryId, outcome).catch(() => undefined);
  }
}
