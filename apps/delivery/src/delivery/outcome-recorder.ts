import { isDomainError, type CommandEnvelope, type DomainError } from '@berth/kernel';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import pRetry, { type Options, type RetryContext } from 'p-retry';
import { DeliveryCommandHandler } from './delivery.command-handler.js';
import { loggedCode } from './delivery-failure.js';

/** Retries for about 15 minutes. `LostDeliveries` records the outcomes that are still missing after that. */
const ATTEMPTS: Options = { retries: 180, minTimeout: 200, maxTimeout: 5_000, randomize: true };
/** An unavailable log accepts no messages either, so only few outcomes wait for it. */
const MAX_WAITING = 10_000;

/**
 * Records how messages ended. Callers get their response first, so an unavailable log does not change an outcome. Retries
 * while the log is unavailable, within limits of time and number.
 */
@Injectable()
export class OutcomeRecorder {
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
    const code = loggedCode(error);
    return this.#begin(deliveryId, () => this.deliveries.failed(envelope, deliveryId, code));
  }

  /** Waits until all outcomes are recorded, at most `withinMs`, and then stops retrying. */
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

  #begin(deliveryId: string, record: () => Promise<void>): Promise<void> {
    if (this.#waiting.size >= MAX_WAITING) {
      this.log.warn({ deliveryId }, 'too many outcomes wait to be recorded');
      return Promise.resolve();
    }
    const recording = this.#record(deliveryId, record).finally(() => this.#waiting.delete(recording));
    this.#waiting.add(recording);
    return recording;
  }

  /** Never rejects. */
  async #record(deliveryId: string, record: () => Promise<void>): Promise<void> {
    const onFailedAttempt = ({ error }: RetryContext): void =>
      this.log.debug({ deliveryId, err: error }, 'the outcome of a message is not recorded yet');
    await pRetry(record, { ...ATTEMPTS, onFailedAttempt, signal: this.#stopping.signal }).catch(
      () => undefined,
    );
  }
}

/** A timeout is certain, because the guest gives up at the same time. */
const isUncertain = (error: DomainError): boolean =>
  error.effect === 'unknown' && error.code !== 'agent_timeout';
