import { Clock, isoTime, type CommandEnvelope } from '@berth/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { DeliveryConfig } from '../config.js';
import { ACCEPTED_WITHIN_MS } from './accept-webhook.js';
import { AcceptanceMarks } from './acceptance-marks.js';
import { WebhookAttempt, type AttemptOutcome } from './webhook-attempt.js';
import { HELD_TOO_LONG } from './webhook-hold.js';
import type { WebhookCommand } from './webhook-delivery.decider.js';
import type { QueuedWebhook, WebhookDelivery } from './webhook-delivery.js';
import { WebhookStreams } from './webhook-delivery.streams.js';
import { WebhookVault, type WaitingWebhook } from './webhook-vault.js';

/** A body whose acceptance is not in the log: its command is in progress, or was refused. */
export const ACCEPTANCE_PAUSE_MS = 250;
/** A delivery that was stored so long ago is no longer accepted, and may be looked up in the log. */
const DECIDED_AFTER_MS = ACCEPTED_WITHIN_MS + 1_000;
/** The log needs less in all cases but those in which an acceptance fails. */
const MARK_READ_AFTER_MS = 1_000;
const INTERRUPTED_PAUSE_MS = 5_000;
/** Clocks of hosts differ. */
const CLOCKS_DIFFER_MS = 60_000;

/** One process works on the queues from here on; another may have worked on them before. */
export interface Shift {
  readonly since: number;
  readonly over: AbortSignal;
}

/** What a lane does after a step: it waits for so long, or goes on with this delivery, or with none. */
type Step = { readonly waitMs: number } | { readonly head: WaitingWebhook | null };

/** Hands over the deliveries of one agent, one at a time, in the order in which they were accepted. */
@Injectable()
export class WebhookLane {
  /** Deliveries that the program may have got, and whose outcome is not in the log. */
  readonly #uncertain = new Set<string>();
  /** When bodies were found whose acceptance is not in the log, on a clock that nothing sets. */
  readonly #unacceptedSince = new Map<string, number>();

  constructor(
    private readonly vault: WebhookVault,
    private readonly streams: WebhookStreams,
    private readonly attempts: WebhookAttempt,
    private readonly marks: AcceptanceMarks,
    private readonly clock: Clock,
    @Inject(DeliveryConfig)
    private readonly config: Pick<DeliveryConfig, 'webhookRetryMs' | 'webhookHoldMs' | 'webhookHeldForMs'>,
  ) {}

  /** Works until the queue is empty, and returns null, or until it has to wait, and returns for how many milliseconds. */
  async work(agentId: string, shift: Shift): Promise<number | null> {
    let head = await this.vault.head(agentId);
    while (head !== null && !shift.over.aborted) {
      const step: Step = await this.step(head, shift);
      if ('waitMs' in step) return step.waitMs;
      head = step.head;
    }
    return null;
  }

  private async step(head: WaitingWebhook, shift: Shift): Promise<Step> {
    const { deliveryId } = head;
    const readAt = performance.now();
    const state = await this.stateOf(deliveryId, shift);
    if (state.status === 'absent') return this.awaitAcceptance(head);
    this.#unacceptedSince.delete(deliveryId);
    if (state.status !== 'queued') return { head: await this.vault.end(head, state.endedAt) };
    const ageMs = head.ageMs + performance.now() - readAt;
    return (await this.unlessAccepted(head, state, ageMs)) ?? this.attempt(head, state, shift);
  }

  private async attempt(head: WaitingWebhook, state: QueuedWebhook, shift: Shift): Promise<Step> {
    const { deliveryId } = head;
    const tooEarlyMs = state.retryAt === null ? 0 : Date.parse(state.retryAt) - this.clock.now();
    // No pause is longer: the clock was set back.
    if (tooEarlyMs > 0 && tooEarlyMs <= Math.max(...this.config.webhookRetryMs))
      return { waitMs: tooEarlyMs };
    const repeated = !isOfShift(state.acceptedAt, shift) || this.#uncertain.has(deliveryId);
    const attempt = `${deliveryId}/attempt:${String(state.attempts + 1)}`;
    this.#uncertain.add(deliveryId);
    const outcome = await this.attempts.make(head, attempt, repeated);
    const step = await this.record(head, state, outcome);
    if (outcome.type !== 'interrupted') this.#uncertain.delete(deliveryId);
    return step;
  }

  /** Without a read for what was accepted during the shift: no other process works on it. */
  private async stateOf(deliveryId: string, shift: Shift): Promise<WebhookDelivery> {
    const { state } = await this.streams.recall(deliveryId);
    if (state.status === 'queued' && isOfShift(state.acceptedAt, shift)) return state;
    return (await this.streams.load(deliveryId)).state;
  }

  /** By the clock of PostgreSQL, or by that of this process should the former be set back. */
  private async awaitAcceptance(head: WaitingWebhook): Promise<Step> {
    const { deliveryId, ageMs } = head;
    const now = performance.now();
    const since = this.#unacceptedSince.get(deliveryId) ?? now;
    this.#unacceptedSince.set(deliveryId, since);
    if (Math.max(ageMs, now - since) < DECIDED_AFTER_MS) return { waitMs: ACCEPTANCE_PAUSE_MS };
    this.#unacceptedSince.delete(deliveryId);
    return { head: await this.vault.refuseHead(head) };
  }

  /**
   * Returns null if the delivery was accepted. What its caller was told is marked in the vault; only if the process that
   * answered died before it could write that does the time decide at which the log recorded the acceptance.
   */
  private async unlessAccepted(
    head: WaitingWebhook,
    { attempts }: QueuedWebhook,
    ageMs: number,
  ): Promise<Step | null> {
    const { agentId, deliveryId, accepted } = head;
    if (accepted || attempts > 0) return null;
    if (this.marks.isUnwritten(deliveryId)) return { waitMs: ACCEPTANCE_PAUSE_MS };
    if (isBetween(0, ageMs, MARK_READ_AFTER_MS)) return null;
    // A mark may be newer than `head`.
    const current = await this.vault.head(agentId);
    if (current?.deliveryId !== deliveryId) return { head: current };
    // What begins now begins at most 5 s after the answer, whatever that was.
    if (current.accepted || isBetween(0, current.ageMs, ACCEPTED_WITHIN_MS)) return null;
    const recordedAt = await this.streams.recordedAt(deliveryId);
    if (recordedAt === null || recordedAt - current.storedAt > DECIDED_AFTER_MS)
      return { head: await this.vault.refuseHead(current) };
    this.marks.accepted(deliveryId);
    return null;
  }

  private async record(head: WaitingWebhook, state: QueuedWebhook, outcome: AttemptOutcome): Promise<Step> {
    const { agentId } = head;
    const at = isoTime(this.clock.now());
    switch (outcome.type) {
      case 'gone':
        await this.vault.removeAllOf(agentId);
        return { head: null };
      case 'suspended':
        return { waitMs: this.config.webhookHoldMs };
      case 'held':
        return this.hold(head, state, this.config.webhookHoldMs);
      case 'interrupted':
        return this.hold(head, state, Math.min(INTERRUPTED_PAUSE_MS, this.config.webhookHoldMs));
      case 'delivered':
        return this.end(head, { type: 'Deliver', at }, null);
      case 'failed': {
        const { code, message } = outcome;
        return this.end(head, { type: 'Fail', code, at, attempted: true }, message);
      }
      case 'declined':
      case 'not_handed_over': {
        const { code } = outcome;
        return this.end(
          head,
          { type: 'FailAttempt', code, at, retryAfterMs: this.config.webhookRetryMs },
          null,
        );
      }
    }
  }

  private async hold(head: WaitingWebhook, { acceptedAt }: QueuedWebhook, pauseMs: number): Promise<Step> {
    const leftMs = Date.parse(acceptedAt) + this.config.webhookHeldForMs - this.clock.now();
    if (leftMs > 0) return { waitMs: Math.min(pauseMs, leftMs) };
    return this.end(
      head,
      { type: 'Fail', code: HELD_TOO_LONG, at: isoTime(this.clock.now()), attempted: false },
      null,
    );
  }

  /** Records the outcome in the log, and only then takes the delivery out of the queue. */
  private async end(head: WaitingWebhook, command: WebhookCommand, error: string | null): Promise<Step> {
    const { deliveryId } = head;
    // The list shows the failure as soon as the log has it.
    if (error !== null) await this.vault.noteError(deliveryId, error);
    const { state } = await this.streams.handle(deliveryId, command, this.envelopeOf(head, command));
    if (state.status === 'queued' || state.status === 'absent') return { head };
    return { head: await this.vault.end(head, state.endedAt) };
  }

  private envelopeOf({ deliveryId, accountId }: WaitingWebhook, command: WebhookCommand): CommandEnvelope {
    const commandId = `${deliveryId}/${command.type}:${'at' in command ? command.at : ''}`;
    return { commandId, accountId, actor: { kind: 'system', id: 'delivery' } };
  }
}

const isBetween = (first: number, value: number, end: number): boolean => first <= value && value < end;

/** Whether the delivery was accepted while this process was the only one that worked on the queues. */
const isOfShift = (acceptedAt: string, { since }: Shift): boolean =>
  Date.parse(acceptedAt) > since + CLOCKS_DIFFER_MS;
