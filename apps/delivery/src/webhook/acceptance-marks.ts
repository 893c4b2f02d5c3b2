import { Database, type SqlRunner } from '@berth/persistence';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable, type BeforeApplicationShutdown } from '@nestjs/common';

/** Most deliveries are handed over by then, which makes the mark unnecessary. */
const MARK_ACCEPTED_AFTER_MS = 100;
const TRY_AGAIN_MS = 250;
/** The caller's error must not wait for a database that does not respond. */
const MARKED_WITHIN_MS = 250;
const LOG_AGAIN_MS = 30_000;

/** A try to accept a delivery whose caller was told that it failed. */
export interface RefusedTry {
  readonly deliveryId: string;
  readonly tryId: string;
}

/**
 * Marks in the vault what the callers of this process were told about their webhooks. An append that failed may still reach
 * the log: its delivery is handed over only if it is not marked as refused. Marks that cannot be written yet are kept in
 * memory, and written as soon as the database responds.
 */
@Injectable()
export class AcceptanceMarks implements BeforeApplicationShutdown {
  #accepted: string[] = [];
  #refused: RefusedTry[] = [];
  #writing: Promise<void> | undefined;
  readonly #stopping = new AbortController();
  #loggedAt = -LOG_AGAIN_MS;

  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    @Inject(Logger) private readonly log: Pick<Logger, 'warn'>,
  ) {}

  /** Whether the caller was told that the delivery was not accepted, and the vault does not have that yet. */
  isUnwritten(deliveryId: string): boolean {
    return this.#refused.some((one) => one.deliveryId === deliveryId);
  }

  accepted(deliveryId: string): void {
    this.#accepted.push(deliveryId);
    this.#write();
  }

  /** Resolves when the mark is written, at the latest after a quarter of a second; never rejects. */
  async refused(refused: RefusedTry): Promise<void> {
    this.#refused.push(refused);
    const written = new AbortController();
    const write = this.#writeRefused().then(() => written.abort());
    this.#write();
    await Promise.race([write, pause(MARKED_WITHIN_MS, written.signal)]);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.#stopping.abort();
    await this.#writing;
  }

  #write(): void {
    this.#writing ??= this.#writeAll().finally(() => {
      this.#writing = undefined;
      if (this.#isBehind && !this.#stopping.signal.aborted) this.#write();
    });
  }

  get #isBehind(): boolean {
    return this.#accepted.length + this.#refused.length > 0;
  }

  /** Never rejects. */
  async #writeAll(): Promise<void> {
    const { signal } = this.#stopping;
    await pause(MARK_ACCEPTED_AFTER_MS, signal);
    while (this.#isBehind) {
      const written = (await this.#writeRefused()) && (await this.#writeAccepted());
      if (!written && signal.aborted) return;
      if (!written) await pause(TRY_AGAIN_MS, signal);
    }
  }

  async #writeRefused(): Promise<boolean> {
    const refused = [...this.#refused];
    const params = [refused.map(({ deliveryId }) => deliveryId), refused.map(({ tryId }) => tryId)];
    if (refused.length > 0 && !(await this.#run(REFUSE, params))) return false;
    this.#refused = this.#refused.filter((one) => !refused.includes(one));
    return true;
  }

  async #writeAccepted(): Promise<boolean> {
    const accepted = this.#accepted;
    this.#accepted = [];
    if (accepted.length === 0 || (await this.#run(MARK_ACCEPTED, [accepted]))) return true;
    this.#accepted.push(...accepted);
    return false;
  }

  async #run(sql: string, params: readonly unknown[]): Promise<boolean> {
    try {
      await this.database.query(sql, params);
      return true;
    } catch (error) {
      const now = performance.now();
      if (now - this.#loggedAt > LOG_AGAIN_MS) this.log.warn({ err: error }, 'could not mark webhooks yet');
      this.#loggedAt = now;
      return false;
    }
  }
}

const MARK_ACCEPTED = `
  UPDATE delivery_vault.webhook_bodies SET accepted = true
  WHERE delivery_id = ANY($1) AND ended_at IS NULL AND NOT accepted`;

/** A webhook is refused, and its body forgotten, once every try to accept it was refused. */
const REFUSE = `
  UPDATE delivery_vault.webhook_bodies body
  SET tries = open.tries, refused = open.tries = '{}', ended_at = CASE WHEN open.tries = '{}' THEN now() END,
    sealed = CASE WHEN open.tries = '{}' THEN NULL ELSE sealed END
  FROM (
    SELECT delivery_id, ARRAY(SELECT unnest(tries) EXCEPT SELECT unnest($2::text[])) AS tries
    FROM delivery_vault.webhook_bodies
    WHERE delivery_id = ANY($1) AND ended_at IS NULL AND NOT accepted AND tries && $2 FOR UPDATE
  ) open
  WHERE body.delivery_id = open.delivery_id`;
