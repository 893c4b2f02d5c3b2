import { Clock } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';

/** `lastActiveAt` is accurate to the minute; more accuracy would cost a write per request. */
const RESOLUTION_MS = 60_000;
const MAX_REMEMBERED = 10_000;

/** When each end user was last active. Not an event, because nothing depends on it. */
@Injectable()
export class EndUserActivity implements BeforeApplicationShutdown {
  readonly #written = new Map<string, number>();
  readonly #pending = new Set<Promise<void>>();

  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Records activity in the background, so that the request does not wait. */
  seen(endUserId: string): void {
    const now = this.clock.now();
    if (now - (this.#written.get(endUserId) ?? Number.NEGATIVE_INFINITY) < RESOLUTION_MS) return;
    this.remember(endUserId, now);
    const write = this.write(endUserId, now).finally(() => this.#pending.delete(write));
    this.#pending.add(write);
  }

  async beforeApplicationShutdown(): Promise<void> {
    await Promise.all(this.#pending);
  }

  private remember(endUserId: string, now: number): void {
    this.#written.delete(endUserId);
    this.#written.set(endUserId, now);
    // The oldest entry comes first; dropping it costs at most one redundant write.
    const oldest = this.#written.keys().next();
    if (this.#written.size > MAX_REMEMBERED && oldest.done !== true) this.#written.delete(oldest.value);
  }

  private async write(endUserId: string, now: number): Promise<void> {
    try {
      await this.database.query(
        `INSERT INTO end_users_vault.activity AS kept (end_user_id, last_active_at) VALUES ($1, $2)
         ON CONFLICT (end_user_id) DO UPDATE SET last_active_at = excluded.last_active_at
         WHERE kept.last_active_at < excluded.last_active_at`,
        [endUserId, new Date(now)],
      );
    } catch (error) {
      this.#written.delete(endUserId);
      this.log.debug({ err: error }, 'could not record the activity of an end user');
    }
  }
}
