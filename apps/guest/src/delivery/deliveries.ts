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

/** How long a message waits for a program that is restarting. */
const PROGRAM_WITHIN_MS = 10_000;
const RECONNECT_PAUSE_MS = 50;

/** Endpoint of the program; undefined if it is not ready within `withinMs`. */
export type FindProgram = (withinMs: number) => Promise<Endpoint | undefined>;

/**
 * Hands messages to the agent's program: one at a time and in order within a conversation, and each at most once. A
 * repeated message joins the running one or gets its response. A disconnecting caller cancels nothing.
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
      if (endpoint === undefined) throw notHandedOver("The agent's program is not running at the moment.");
      try {
        return await this.#handOverOnce(endpoint, message, signal);
      } catch (error) {
        if (!(error instanceof NotConnected)) throw error;
        if (signal.aborted || performance.now() >= until) {
          throw notHandedOver("The agent's program does not accept connections at the moment.");
        }
        // The program has just died, and its exit has not been noticed yet.
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
      throw notHandedOver('The host of the agent could not record the message.');
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
    // If the outcome cannot be recorded, the caller still gets it; only a repeated message would not find it.
    await this.journal.ended(deliveryId, outcome).catch(() => undefined);
  }
}
