import type { Policy } from '@berth/contracts/schema';
import { isoTime } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import type { Wake } from '../agent/act.js';
import type { OwnerWithEndUser } from '../agent/owner.js';
import type { OwnerSuspension } from '../suspension/owner-suspension.js';
import { monthOf } from '../use/agent-use.js';
import type { StartDecision } from './caps.js';
import { ADMIT_WAKE, COUNT_WAKE, DECIDE_START, REMOVE_OLD } from './wake-statements.js';

/** So few admissions of an end user can be in the log already that they slow down no decision. */
const REMOVED_EVERY = 8n;

/** A decision, and whether the wake was counted with it. */
export interface Decided extends StartDecision, OwnerSuspension {
  /** The policy in force; null: nothing limits the end user. */
  readonly policy: Policy | null;
  /** The revision of the gate at which the wake was counted. Null although it fits: another one was counted at the same time. */
  readonly countedAt: bigint | null;
  /** Whether at least `ROOM` wakes fit, this one included. */
  readonly hasRoom: boolean;
}

type Row = Omit<Decided, 'blockedSince' | 'countedAt'> & {
  readonly blockedSince: Date | null;
  readonly countedAt: string | null;
};

/** The wakes of end users: those of the log, and admitted ones that are not in the log yet. */
@Injectable()
export class WakeLedger {
  constructor(@Inject(Database) private readonly database: SqlRunner) {}

  /** Decides, and counts the wake if it fits. `now`: Unix milliseconds. */
  async decide(
    { accountId, endUserId }: OwnerWithEndUser,
    wake: Wake | undefined,
    now: number,
  ): Promise<Decided> {
    const asked = [accountId, endUserId, isoTime(now), isoTime(monthOf(now).begin)];
    const [row] = await (wake === undefined
      ? this.database.query<Row>(DECIDE_START, asked)
      : this.database.query<Row>(ADMIT_WAKE, [...asked, wake.agentId, wake.epoch]));
    if (row === undefined) throw new Error('The admission of a start returned no row.');
    const countedAt = row.countedAt === null ? null : BigInt(row.countedAt);
    if (countedAt !== null) await this.removeOld(endUserId, countedAt, now);
    return { ...row, blockedSince: row.blockedSince?.getTime() ?? null, countedAt };
  }

  /**
   * Counts a wake that is known to fit at `revision`, which it increments. Returns false if other wakes of the end user were
   * counted since.
   */
  async count(endUserId: string, wake: Wake, revision: bigint, now: number): Promise<boolean> {
    const asked = [endUserId, revision.toString(), wake.agentId, wake.epoch, isoTime(now)];
    const counted = await this.database.query(COUNT_WAKE, asked);
    if (counted.length > 0) await this.removeOld(endUserId, revision + 1n, now);
    return counted.length > 0;
  }

  private async removeOld(endUserId: string, revision: bigint, now: number): Promise<void> {
    if (revision % REMOVED_EVERY === 0n) await this.database.query(REMOVE_OLD, [endUserId, isoTime(now)]);
  }
}
