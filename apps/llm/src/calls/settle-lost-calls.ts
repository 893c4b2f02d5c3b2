import { Clock, isoTime } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { RunOnOneInstance, type Runnable } from '@berth/service';
import { pause } from '@berth/supervision';
import { Inject, Injectable } from '@nestjs/common';
import { load } from '../ledger/stored-amount.js';
import { NO_TOKENS } from '../ledger/token-price.js';
import { CallLedgers } from './call-ledgers.js';

const TICK_MS = 2_000;
/** A process counts as dead if it has not refreshed its row for this long; a live one does so every 2 s. */
const DEAD_AFTER_SECONDS = 15;
/** A call ends in both ledgers one after the other, and the table follows. */
const SETTLING_SECONDS = 20;
const MOST_AT_ONCE = 500;

/** A call that is open in a ledger although no process will end it. */
interface LostCall {
  readonly callId: string;
  readonly accountId: string;
  readonly endUserId: string | null;
  readonly startedAt: Date;
  /** Null: the account's ledger has never reserved it. */
  readonly status: string | null;
  readonly cost: string | null;
}

const LOST = `
  SELECT id AS "callId", account_id AS "accountId", coalesce(spender_id, end_user_id) AS "endUserId",
    started_at AS "startedAt", status, cost::text AS cost
  FROM llm_calls
  WHERE (status = 'open' OR spend_open)
    AND (
      NOT EXISTS (SELECT FROM instances i WHERE i.id = llm_calls.instance
        AND i.seen_at > clock_timestamp() - make_interval(secs => $1))
      OR (status <> 'open' AND ended_at < clock_timestamp() - make_interval(secs => $2))
    )
  ORDER BY id LIMIT $3`;

/**
 * Ends the calls of processes that are gone, at the reserved amount: whether the upstream has billed them is unknown. Also
 * completes what a process left half done between the two ledgers. The ledgers accept each end once.
 */
@Injectable()
@RunOnOneInstance({ name: 'lost-calls' })
export class SettleLostCalls implements Runnable {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly ledgers: CallLedgers,
    private readonly clock: Clock,
  ) {}

  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      const lost = await this.database.query<LostCall>(LOST, [
        DEAD_AFTER_SECONDS,
        SETTLING_SECONDS,
        MOST_AT_ONCE,
      ]);
      await Promise.all(lost.map((call) => this.end(call)));
      if (lost.length === 0) await this.forgetDead();
      await pause(TICK_MS, signal);
    }
  }

  private async end({ startedAt, status, cost, ...call }: LostCall): Promise<void> {
    const now = isoTime(this.clock.now());
    const charged = { ...call, startedAt: isoTime(startedAt.getTime()) };
    if (status === 'open')
      await this.ledgers.end(charged, {
        type: 'Settle',
        callId: call.callId,
        tokens: NO_TOKENS,
        cost: null,
        endedAt: now,
      });
    else await this.ledgers.settleSpend(charged, load(cost ?? '0'), now);
  }

  private async forgetDead(): Promise<void> {
    await this.database.query("DELETE FROM instances WHERE seen_at < clock_timestamp() - interval '1 day'");
  }
}
