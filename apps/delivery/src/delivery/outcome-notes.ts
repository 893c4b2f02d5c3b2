import { isDomainError, type CommandEnvelope, type DomainError } from '@berth/kernel';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import pRetry, { type Options, type RetryContext } from 'p-retry';
import { DeliveryCommandHandler } from './delivery.command-handler.js';

/** About a quarter of an hour; the search for lost deliveries finds outcomes not recorded by then. */
const ATTEMPTS: Options = { retries: 180, minTimeout: 200, maxTimeout: 5_000, randomize: true };
/** An unavailable log accepts no messages either, so only few outcomes wait for it. */
const MOST_WAITING = 10_000;

/**
 * Records how messages ended, after the response: an outcome that cannot be recorded yet is an outcome all the same.
 * Tries again while the log is unavailable, within bounds.
 */
@Injectable()
export class OutcomeNotes {
  readonly #waiting = new Set<Promise<void>>();
  readonly #stopping = new AbortController();

  constructor(
    private readonly deliveries: DeliveryCommandHandler,
    private readonly log: Logger,
  ) {}

  /** The promise resolves when the outcome is recorded or given up, and never rejects. */
  answered(envelope: CommandEnvelope, deliveryId: string, response: string): Promise<void> {
    const { length } = response;
    return this.#begin(deliveryId, () => this.deliveries.answered(envelope, deliveryId, length));
  }

  /** Like `answered`. A failure with an unknown outcome is not recorded: the journal is queried later. */
  failed(envelope: CommandEnvelope, deliveryId: string, error: unknown): Promise<void> {
    if (!isDomainError(error) || error.kind === 'internal' || isUncertain(error)) return Promise.resolve();
    const { code } = error;
    return this.#begin(deliveryId, () => this.deliveries.failed(envelope, deliveryId, code));
  }

  /** Waits until all outcomes are recorded, at most `withinMs`; then tries no more. */
  async settle(withinMs: number): Promise<void> {
    const late = pause(withinMs, this.#stopping.signal);
    await Promise.race([Promise.all(this.#waiting), late]);
    this.#stopping.abort();
    if (this.#waiting.size > 0)
      this.log.warn(
        { outcomes: this.#waiting.size },
        'stopping before all outcomes of messages were recorded',
      );
  }

  #begin(deliveryId: string, note: () => Promise<void>): Promise<void> {
    if (this.#waiting.size >= MOST_WAITING) {
      this.log.warn({ deliveryId }, 'too many outcomes wait to be recorded');
      return Promise.resolve();
    }
    const noting = this.#note(deliveryId, note).finally(() => this.#waiting.delete(noting));
    this.#waiting.add(noting);
    return noting;
  }

  /** Never rejects. */
  async #note(deliveryId: string, note: () => Promise<void>): Promise<void> {
    const onFailedAttempt = ({ error }: RetryContext): void =>
      this.log.debug({ deliveryId, err: error }, 'the outcome of a message is not recorded yet');
    await pRetry(note, { ...ATTEMPTS, onFailedAttempt, signal: this.#stopping.signal }).catch(
      () => undefined,
    );
  }
}

/** The guest gives up at the same time, so that a timeout is its verdict too. */
const isUncertain = (error: DomainError): boolean =>
  error.effect === 'unknown' && error.code !== 'agent_timeout';
