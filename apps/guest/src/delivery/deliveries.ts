import { setTimeout as delay } from 'node:timers/promises';
import { isDomainError } from '@berth/kernel';
import {
  GUEST_LIMITS,
  toDeliveryReport,
  type DeliverToProgram,
  type DeliveryOutcome,
  type DeliveryReport,
  type ProgramResponse,
} from '@berth/guest-protocol';
import type { Endpoint } from '../program/readiness.js';
import { agentTimeout, callProgram, Declined, NotConnected } from './call-program.js';
import { ConversationQueue } from './conversation-queue.js';
import type { DeliveryJournal } from './delivery-journal.js';
import { abandoned, declined, notHandedOver, outcomeUnknown, replay } from './delivery-record.js';

/** How long a message waits for a program that is restarting. */
const PROGRAM_WITHIN_MS = 10_000;
const RECONNECT_PAUSE_MS = 50;

/** Endpoint of the program; undefined if it is not ready within `withinMs`. */
export type FindProgram = (withinMs: number) => Promise<Endpoint | undefined>;

/** A message on its way to the program. */
interface Running {
  readonly reply: Promise<ProgramResponse>;
  readonly progress: DeliveryProgress;
}

/** How far a message has got, and the signal that ends its delivery early. */
class DeliveryProgress {
  /** Whether the program may have received the message. */
  handed = false;
  readonly end = new AbortController();
}

/**
 * Hands messages to the agent's program: one at a time and in order within a conversation, and each at most once. A
 * repeated message joins the running one or gets its response. A disconnecting caller cancels nothing.
 */
export class Deliveries {
  readonly #running = new Map<string, Running>();
  readonly #conversations = new ConversationQueue();

  constructor(
    private readonly journal: DeliveryJournal,
    private readonly findProgram: FindProgram,
    private readonly chatMs: number = GUEST_LIMITS.chatMs,
  ) {}

  deliver(message: DeliverToProgram): Promise<ProgramResponse> {
    const { deliveryId } = message;
    const running = this.#running.get(deliveryId);
    if (running !== undefined) return running.reply;
    const progress = new DeliveryProgress();
    const reply = this.#deliverOnce(message, progress).finally(() => this.#running.delete(deliveryId));
    this.#running.set(deliveryId, { reply, progress });
    return reply;
  }

  /** See `GUEST_ROUTES.abandonDelivery`; returns the number of abandoned messages. */
  abandon(deliveryId: string | null): number {
    const named = deliveryId === null ? [...this.#running.values()] : [this.#running.get(deliveryId)];
    const waiting = named.filter((running) => running?.progress.handed === false);
    for (const running of waiting) running?.progress.end.abort(abandoned());
    return waiting.length;
  }

  find(deliveryId: string): DeliveryReport {
    return this.#running.has(deliveryId)
      ? { state: 'open' }
      : toDeliveryReport(this.journal.find(deliveryId));
  }

  async #deliverOnce(message: DeliverToProgram, progress: DeliveryProgress): Promise<ProgramResponse> {
    const earlier = this.journal.find(message.deliveryId);
    if (earlier !== undefined) {
      if (earlier.outcome === undefined) throw outcomeUnknown();
      return replay(earlier.outcome);
    }
    const { end } = progress;
    const timer = setTimeout(() => end.abort(agentTimeout(false)), this.chatMs);
    try {
      return await this.#conversations.run(
        message.conversationId,
        () => this.#handOver(message, progress),
        end.signal,
      );
    } finally {
      clearTimeout(timer);
    }
  }

  async #handOver(message: DeliverToProgram, progress: DeliveryProgress): Promise<ProgramResponse> {
    const until = performance.now() + PROGRAM_WITHIN_MS;
    for (;;) {
      const endpoint = await this.findProgram(Math.max(0, until - performance.now()));
      if (endpoint === undefined) throw notHandedOver("The agent's program is not running at the moment.");
      try {
        return await this.#handOverOnce(endpoint, message, progress);
      } catch (error) {
        if (!(error instanceof NotConnected)) throw error;
        if (progress.end.signal.aborted || performance.now() >= until) {
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
    progress: DeliveryProgress,
  ): Promise<ProgramResponse> {
    const { deliveryId } = message;
    const { signal } = progress.end;
    // While the program was restarting, the message may have been abandoned.
    if (!progress.handed) signal.throwIfAborted();
    progress.handed = true;
    await this.journal.handed(deliveryId).catch(() => {
      throw notHandedOver('The host of the agent could not record the message.');
    });
    try {
      const reply = await callProgram(endpoint, message, signal);
      await this.#record(deliveryId, { type: 'answered', response: reply.response });
      return reply;
    } catch (error) {
      if (error instanceof NotConnected || error instanceof Declined)
        await this.journal.released(deliveryId).catch(() => undefined);
      if (error instanceof Declined) throw declined(error.status);
      if (isDomainError(error)) {
        const { kind, code, message: errorMessage } = error;
        await this.#record(deliveryId, { type: 'failed', kind, code, message: errorMessage });
      }
      throw error;
    }
  }

  async #record(deliveryId: string, outcome: DeliveryOutcome): Promise<void> {
    // If the outcome cannot be recorded, the caller still gets it; only a repeated message would not find it.
    await this.journal.ended(deliveryId, outcome).catch(() => undefined);
  }
}
