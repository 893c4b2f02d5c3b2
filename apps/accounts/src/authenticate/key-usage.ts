import { Clock } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';

/** `lastUsedAt` is accurate to the minute; more accuracy would cost a write per request. */
const RESOLUTION_MS = 60_000;
const MAX_REMEMBERED = 10_000;

/** When each key was last used. Not an event, because nothing depends on it. */
@Injectable()
export class KeyUsage implements BeforeApplicationShutdown {
  private readonly written = new Map<string, number>();
  private readonly pending = new Set<Promise<void>>();

  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /** Records a use in the background, so that the request does not wait. */
  seen(keyId: string): void {
    const now = this.clock.now();
    if (now - (this.written.get(keyId) ?? Number.NEGATIVE_INFINITY) < RESOLUTION_MS) return;
    this.remember(keyId, now);
    const write = this.write(keyId, now).finally(() => this.pending.delete(write));
    this.pending.add(write);
  }

  /** Returns the time of the last use, ISO 8601; null for a key that was never used. */
  async lastUsedAt(keyId: string): Promise<string | null> {
    const [row] = await this.database.query<{ at: Date }>(
      'SELECT last_used_at AS at FROM accounts_vault.key_usage WHERE key_id = $1',
      [keyId],
    );
    return row?.at.toISOString() ?? null;
  }

  beforeApplicationShutdown(): Promise<void> {
    return this.settle();
  }

  /** Resolves once every recorded use is written. */
  async settle(): Promise<void> {
    await Promise.all(this.pending);
  }

  private remember(keyId: string, now: number): void {
    this.written.delete(keyId);
    this.written.set(keyId, now);
    // The oldest entry comes first; dropping it costs at most one redundant write.
    const oldest = this.written.keys().next();
    if (this.written.size > MAX_REMEMBERED && oldest.done !== true) this.written.delete(oldest.value);
  }

  private async write(keyId: string, now: number): Promise<void> {
    try {
      await this.database.query(
        `INSERT INTO accounts_vault.key_usage AS kept (key_id, last_used_at) VALUES ($1, $2)
         ON CONFLICT (key_id) DO UPDATE SET last_used_at = excluded.last_used_at
         WHERE kept.last_used_at < excluded.last_used_at - interval '${RESOLUTION_MS - 1} milliseconds'`,
        [keyId, new Date(now)],
      );
    } catch (error) {
      this.written.delete(keyId);
      this.log.debug({ err: error }, 'could not record the use of a key');
    }
  }
}
