import { WEBHOOK_LIMITS } from '@berth/contracts/delivery';
import { DomainError } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';

/** The calls of each caller of an agent's webhook in the last 60 s, counted by all processes together. */
@Injectable()
export class WebhookRate {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /**
   * Counts a call once, however often it arrives; null: each time. `caller`: the id of a token, or another name for callers that share a
   * count. Errors: exhausted `rate_limited` with `retryAfterSeconds`.
   */
  async take(agentId: string, caller: string, call: string | null): Promise<void> {
    const rows = await this.database.query<{ wait: number }>(
      'SELECT take_webhook_call(coalesce($1, gen_random_uuid()::text), $2, $3, $4) AS wait',
      [call, agentId, caller, WEBHOOK_LIMITS.perMinute],
    );
    const retryAfterSeconds = rows[0]?.wait ?? 0;
    if (retryAfterSeconds === 0) return;
    throw new DomainError(
      'exhausted',
      'rate_limited',
      'This caller invokes the webhook too often; try again later.',
      { retryAfterSeconds },
    );
  }

  /** Deletes the calls of callers that have not come back. */
  async sweep(): Promise<void> {
    await this.database.query("DELETE FROM webhook_call WHERE at < now() - interval '1 hour'");
  }
}
