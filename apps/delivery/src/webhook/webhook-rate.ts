import { WEBHOOK_LIMITS } from '@berth/contracts/delivery';
import { DomainError } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** Limits how often a caller may invoke an agent's webhook in 60 s. All processes share the count. */
@Injectable()
export class WebhookRate {
  /** Until when a caller at its limit is refused, by agent and caller, in milliseconds of the monotonic clock. */
  readonly #refusedUntil = new Map<string, number>();

  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /**
   * Counts a call that will not be accepted; the acceptance of a webhook counts the others. Calls with the same `caller`
   * share a limit. Errors: exhausted `rate_limited` with `retryAfterSeconds`.
   */
  async take(agentId: string, caller: string): Promise<void> {
    const key = `${agentId} ${caller}`;
    const leftMs = (this.#refusedUntil.get(key) ?? 0) - performance.now();
    // Calls do not expire earlier, so a flood of calls needs no statement.
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

  /** Deletes calls that no longer count. */
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
