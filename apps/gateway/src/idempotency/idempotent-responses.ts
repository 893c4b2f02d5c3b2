import { randomUUID } from 'node:crypto';
import { newId } from '@berth/kernel';
import { Database, SecretBox } from '@berth/persistence';
import { Logger } from '@berth/telemetry';
import { Injectable, type OnApplicationBootstrap, type OnApplicationShutdown } from '@nestjs/common';
import { HttpRefusal } from '../http/http-refusal.js';

/** The scope of an Idempotency-Key: the same key of another caller or path is independent. */
export interface IdempotencyScope {
  /** See `callerIdOf`. */
  readonly caller: string;
  /** Method and path. */
  readonly route: string;
  readonly key: string;
}

/**
 * A row that this request holds until it has a response. A row without holder and response stays for an attempt that may
 * have taken effect.
 */
export interface IdempotencyClaim {
  readonly scope: IdempotencyScope;
  readonly claimId: string;
  /** The same for every attempt that may have taken effect, so that services recognise it. */
  readonly commandId: string;
  /** Whether an earlier attempt had that command id. */
  readonly repeated: boolean;
}

/** A stored response. */
export interface StoredResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** A response to be stored. */
export interface ResponseToKeep extends StoredResponse {
  /** When the secret in it ends, ISO 8601: from then on it is not replayed. null: it has none, or one without an end. */
  readonly endsAt: string | null;
}

export type Claimed = { readonly claim: IdempotencyClaim } | { readonly kept: StoredResponse };

/**
 * How long a claim lasts after its gateway last renewed it. Short, because the request that takes it over
 * carries the same command id: if the first one still runs after all, the service deduplicates them.
 */
const LEASE = "interval '12 seconds'";
const RENEW_EVERY_MS = 3_000;
const KEPT_FOR = "interval '24 hours'";
const SWEEP_EVERY_MS = 600_000;
const MAX_SWEPT_ROWS = 10_000;

/** A row may vanish between two queries, but not on every attempt. */
const CLAIM_ATTEMPTS = 5;

interface StoredRow {
  readonly body_digest: string;
  readonly status: number | null;
  readonly sealed_answer: string | null;
  readonly ended: boolean;
}

/**
 * Responses under Idempotency-Keys, shared by all gateways: a row is held by one request at a time, and freed when its
 * gateway dies. All calls throw `unavailable` while the database is down.
 */
@Injectable()
export class IdempotentResponses implements OnApplicationBootstrap, OnApplicationShutdown {
  readonly #held = new Set<string>();
  #timers: NodeJS.Timeout[] = [];

  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly log: Logger,
  ) {}

  /** Renews held rows and deletes old responses, until the gateway stops. */
  onApplicationBootstrap(): void {
    this.#every(RENEW_EVERY_MS, () => this.renew());
    this.#every(SWEEP_EVERY_MS, () => this.sweep());
  }

  /** Releases held rows; a retry gets the same command id. */
  async onApplicationShutdown(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers = [];
    await this.database
      .query('UPDATE idempotent_answers SET claim_id = NULL, leased_until = NULL WHERE claim_id = ANY($1)', [
        [...this.#held],
      ])
      .catch((error: unknown) => this.#warn(error));
  }

  /**
   * Claims the row, or returns the response stored in it. 409 `idempotency_key_reused` when it belongs to another body,
   * 409 `idempotency_in_progress` while another request holds it, 409 `idempotency_answer_gone` once the secret in the
   * stored response has ended.
   */
  async claim(scope: IdempotencyScope, bodyDigest: string): Promise<Claimed> {
    for (let attempt = 0; attempt < CLAIM_ATTEMPTS; attempt++) {
      const claim = await this.#tryClaim(scope, bodyDigest);
      if (claim !== undefined) return { claim };
      const row = await this.#find(scope);
      if (row !== undefined) return { kept: this.#storedResponse(scope, row, bodyDigest) };
    }
    throw inProgress();
  }

  /** Stores the response for 24 h, unless another request has taken the row over. */
  async keep(
    { scope, claimId }: IdempotencyClaim,
    { status, headers, body, endsAt }: ResponseToKeep,
  ): Promise<void> {
    this.#held.delete(claimId);
    const sealed = this.box.seal(JSON.stringify({ headers, body }), associated(scope));
    await this.database.query(
      `UPDATE idempotent_answers
          SET status = $1, sealed_answer = $2, claim_id = NULL, leased_until = NULL, expires_at = now() + ${KEPT_FOR},
              answer_ends_at = $7
        WHERE caller = $3 AND route = $4 AND idempotency_key = $5 AND claim_id = $6`,
      [status, sealed, scope.caller, scope.route, scope.key, claimId, endsAt],
    );
  }

  /**
   * Forgets a stored response whose secret is no longer valid. Throws 409 `idempotency_answer_gone`, as `claim` does from
   * then on.
   */
  async end({ caller, route, key }: IdempotencyScope): Promise<never> {
    await this.database.query(
      `UPDATE idempotent_answers SET sealed_answer = NULL, answer_ends_at = now()
        WHERE caller = $1 AND route = $2 AND idempotency_key = $3 AND status IS NOT NULL`,
      [caller, route, key],
    );
    throw answerGone();
  }

  /** Frees the key: errors are not stored. */
  async free({ scope, claimId }: IdempotencyClaim): Promise<void> {
    this.#held.delete(claimId);
    await this.database.query(
      'DELETE FROM idempotent_answers WHERE caller = $1 AND route = $2 AND idempotency_key = $3 AND claim_id = $4',
      [scope.caller, scope.route, scope.key, claimId],
    );
  }

  /** Keeps the key for its body: the next attempt gets the same command id. */
  async release({ scope, claimId }: IdempotencyClaim): Promise<void> {
    this.#held.delete(claimId);
    await this.database.query(
      `UPDATE idempotent_answers SET claim_id = NULL, leased_until = NULL
        WHERE caller = $1 AND route = $2 AND idempotency_key = $3 AND claim_id = $4`,
      [scope.caller, scope.route, scope.key, claimId],
    );
  }

  async renew(): Promise<void> {
    if (this.#held.size === 0) return;
    await this.database.query(
      `UPDATE idempotent_answers SET leased_until = now() + ${LEASE} WHERE claim_id = ANY($1)`,
      [[...this.#held]],
    );
  }

  /** Deletes rows older than 24 h, a limited number at a time, and responses whose secret has ended. */
  async sweep(): Promise<void> {
    await this.database.query(
      'UPDATE idempotent_answers SET sealed_answer = NULL WHERE answer_ends_at <= now() AND sealed_answer IS NOT NULL',
    );
    await this.database.query(
      `DELETE FROM idempotent_answers WHERE (caller, route, idempotency_key) IN (
         SELECT caller, route, idempotency_key FROM idempotent_answers WHERE expires_at <= now() LIMIT ${MAX_SWEPT_ROWS}
       )`,
    );
  }

  async #tryClaim(scope: IdempotencyScope, bodyDigest: string): Promise<IdempotencyClaim | undefined> {
    const claimId = randomUUID();
    const fresh = newId('cmd');
    const rows = await this.database.query<{ command_id: string }>(CLAIM, [
      scope.caller,
      scope.route,
      scope.key,
      bodyDigest,
      fresh,
      claimId,
    ]);
    const commandId = rows[0]?.command_id;
    if (commandId === undefined) return undefined;
    this.#held.add(claimId);
    return { scope, claimId, commandId, repeated: commandId !== fresh };
  }

  async #find({ caller, route, key }: IdempotencyScope): Promise<StoredRow | undefined> {
    const rows = await this.database.query<StoredRow>(
      `SELECT body_digest, status, sealed_answer, answer_ends_at IS NOT NULL AND answer_ends_at <= now() AS ended
         FROM idempotent_answers
        WHERE caller = $1 AND route = $2 AND idempotency_key = $3`,
      [caller, route, key],
    );
    return rows[0];
  }

  #storedResponse(scope: IdempotencyScope, row: StoredRow, bodyDigest: string): StoredResponse {
    if (row.body_digest !== bodyDigest) {
      const message = 'This Idempotency-Key was used with another body. Use a new key for another request.';
      throw new HttpRefusal(409, 'idempotency_key_reused', message);
    }
    if (row.ended) throw answerGone();
    if (row.status === null || row.sealed_answer === null) throw inProgress();
    const opened = JSON.parse(this.box.open(row.sealed_answer, associated(scope))) as Omit<
      StoredResponse,
      'status'
    >;
    return { status: row.status, ...opened };
  }

  #warn(error: unknown): void {
    this.log.warn({ err: error }, 'could not maintain the stored responses');
  }

  #every(millis: number, work: () => Promise<void>): void {
    const timer = setInterval(() => void work().catch((error: unknown) => this.#warn(error)), millis);
    timer.unref();
    this.#timers.push(timer);
  }
}

/** Takes a row that is new or expired, or that an earlier attempt with the same body has left without a response. */
const CLAIM = `
  INSERT INTO idempotent_answers AS held
    (caller, route, idempotency_key, body_digest, command_id, claim_id, leased_until, expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, now() + ${LEASE}, now() + ${KEPT_FOR})
  ON CONFLICT (caller, route, idempotency_key) DO UPDATE SET
    body_digest = excluded.body_digest,
    command_id = CASE WHEN held.expires_at > now() THEN held.command_id ELSE excluded.command_id END,
    claim_id = excluded.claim_id,
    leased_until = excluded.leased_until,
    status = NULL,
    sealed_answer = NULL,
    answer_ends_at = NULL,
    expires_at = excluded.expires_at
  WHERE held.expires_at <= now()
     OR (held.status IS NULL AND (held.leased_until IS NULL OR held.leased_until <= now())
         AND held.body_digest = excluded.body_digest)
  RETURNING command_id`;

const answerGone = (): HttpRefusal =>
  new HttpRefusal(
    409,
    'idempotency_answer_gone',
    'What the response to this Idempotency-Key contained is no longer valid. Use a new key for another request.',
  );

const inProgress = (): HttpRefusal =>
  new HttpRefusal(
    409,
    'idempotency_in_progress',
    'The first request with this Idempotency-Key is still running. Wait for its response.',
  );

const associated = ({ caller, route, key }: IdempotencyScope): string => JSON.stringify([caller, route, key]);
