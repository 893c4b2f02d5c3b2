import { WEBHOOK_LIMITS } from '@berth/contracts/delivery';
import { DomainError } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** The calls of each caller of an agent's webhook in the last 60 s, counted by all processes together. */
@Injectable()
export class WebhookRate {
  /** Until when callers whose rate is used up will be refused, by agent and caller, on a clock that nothing sets. */
  readonly #refusedUntil = new Map<string, number>();

  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /**
   * Counts a call that is not accepted; those that are count with their acceptance. `caller`: a name that the callers share.
   * Errors: exhausted `rate_limited` with `retryAfterSeconds`.
   */
  async take(agentId: string, caller: string): Promise<void> {
    const key = `${agentId} ${caller}`;
    const leftMs = (this.#refusedUntil.get(key) ?? 0) - performance.now();
    // Nothing can change that before, so a flood costs no look-ups.
    if (leftMs > 0) throw tooManyCalls(Math.ceil(leftMs / 1000));
    const rows = await this.database.query<{ wait: number }>(
      'SELECT take_webhook_call(gen_random_uuid()::text, $1, $2, $3) AS wait',
      [agentId, caller, WEBHOOK_LIMITS.perMinute],
    );
    const retryAfterSeconds = rows[0]?.wait ?? 0;
    if (retryAfterSeconds === 0) return;
    this.#refusedUntil.set(key, performance.now() + retryAfterSeconds * 1000);
    throw tooManyCalls(retryAfterSeconds);
  }

  /** Deletes the calls of callers that have not come back. */
  async sweep(): Promise<void> {
    for (const [key, until] of this.#refusedUntil)
      if (until <= performance.now()) this.#refusedUntil.delete(key);
    await this.database.query("DELETE FROM webhook_call WHERE at < now() - interval '1 hour'");
  }
}

/** Refuses a call beyond the rate of its caller. */
export const tooManyCalls = (retryAfterSeconds: number): DomainError =>
  new DomainError(
    'exhausted',
    'rate_limited',
    'This caller invokes the webhook too often; try again later.',
    {
      retryAfterSeconds,
    },
  );
