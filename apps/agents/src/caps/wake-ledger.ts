import type { Policy } from '@berth/contracts/schema';
import { isoTime } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Logger } from '@berth/telemetry';
import { Inject, Injectable } from '@nestjs/common';
import type { Wake } from '../agent/act.js';
import type { OwnerWithEndUser } from '../agent/owner.js';
import type { OwnerSuspension } from '@berth/boxes';
import { monthOf } from '../use/agent-use.js';
import type { StartDecision } from './caps.js';
import { ADMIT_WAKE, COUNT_WAKE, DECIDE_START, REMOVE_OLD } from './wake-statements.js';

/** Admissions that the log has are removed at every eighth: up to seven such rows slow no decision down. */
const REMOVED_EVERY = 8n;

/** When a wake was counted. */
export interface Counted {
  /** The revision of the gate that resulted. */
  readonly revision: bigint;
  /** The log has no wake with a higher ordinal, unless one began without being counted. */
  readonly ordinal: bigint;
}

/** Which wakes a decision counts: those that fit, or of these only those with a room (`Decided.hasRoom`). */
export type CountWhen = 'fits' | 'in_room';

/** A decision, and whether the wake was counted with it. */
export interface Decided extends StartDecision, OwnerSuspension {
  /** The policy in force; null: nothing limits the end user. */
  readonly policy: Policy | null;
  /** Null although the wake fits: it has no room, or another wake of the end user was counted at the same time. */
  readonly counted: Counted | null;
  /** Whether at least `ROOM` wakes fit, this one included, whatever `COUNT_WAKE` overlooks. */
  readonly hasRoom: boolean;
}

type Row = Omit<Decided, 'blockedSince' | 'counted'> & {
  readonly blockedSince: Date | null;
  readonly countedAt: string | null;
  readonly ordinal: string | null;
};

/** The wakes of end users: those of the log, and admitted ones that are not in the log yet. */
@Injectable()
export class WakeLedger {
  constructor(
    @Inject(Database) private readonly database: SqlRunner,
    private readonly log: Logger,
  ) {}

  /** Decides, and counts the wake if it fits. `now`: Unix milliseconds. */
  async decide(
    { accountId, endUserId }: OwnerWithEndUser,
    wake: Wake | undefined,
    now: number,
    count: CountWhen = 'fits',
  ): Promise<Decided> {
    const asked = [accountId, endUserId, isoTime(now), isoTime(monthOf(now).begin)];
    const [row] = await (wake === undefined
      ? this.database.query<Row>(DECIDE_START, asked)
      : this.database.query<Row>(ADMIT_WAKE, [...asked, wake.agentId, wake.epoch, count === 'in_room']));
    if (row === undefined) throw new Error('The admission of a start returned no row.');
    const { countedAt, ordinal, ...decided } = row;
    const counted =
      countedAt === null ? null : { revision: BigInt(countedAt), ordinal: BigInt(ordinal ?? 0) };
    if (counted !== null) this.removeOld(endUserId, counted, now);
    return { ...decided, blockedSince: row.blockedSince?.getTime() ?? null, counted };
  }

  /**
   * Counts a wake that is known to fit after `last`, the wake that was counted before it. Undefined if this one was counted
   * already, or if other wakes of the end user were counted since or began without being counted.
   */
  async count(endUserId: string, wake: Wake, last: Counted, now: number): Promise<Counted | undefined> {
    const { agentId, epoch } = wake;
    const { revision, ordinal } = last;
    const asked = [endUserId, revision.toString(), agentId, epoch, isoTime(now), ordinal.toString()];
    if ((await this.database.query(COUNT_WAKE, asked)).length === 0) return undefined;
    const counted = { revision: revision + 1n, ordinal: ordinal + 1n };
    this.removeOld(endUserId, counted, now);
    return counted;
  }

  /** In the background: the wake is counted, whether that succeeds or not. */
  private removeOld(endUserId: string, { revision }: Counted, now: number): void {
    if (revision % REMOVED_EVERY !== 0n) return;
    this.database.query(REMOVE_OLD, [endUserId, isoTime(now)]).catch((error: unknown) => {
      this.log.warn({ endUserId, err: error }, 'could not remove admissions that the log has');
    });
  }
}
