import type { UsageDifference, UsageVerification, VerifyUsage } from '@berth/contracts/billing';
import { EventStore } from '@berth/event-store';
import { Clock, isoTime } from '@berth/kernel';
import { Database, type SqlRunner } from '@berth/persistence';
import { Inject, Injectable } from '@nestjs/common';
import { AGENTS } from '../meter/agents.kind.js';
import { COMPUTERS } from '../meter/computers.kind.js';
import type { MeteredKind } from '../meter/metered-kind.js';
import { DAY_MS, dateOf } from '../meter/utc-day.js';
import { ComputersCountedUntil, CountedUntil } from '../usage-list/counted-until.js';
import { rangeOf, type DayRange } from '../usage-list/usage-range.js';
import { inSnapshot, readUsage, unallocatedIn } from '../usage-list/usage-reading.js';
import type { BoxRow, ComputerPageRow, PageRow } from '../usage-list/usage-view.js';
import { recount, type RecountedAccount, type RecountedRow } from './recount.js';
import { RECOUNTED_CATEGORIES, RecountReader, type RecountedLog } from './recount-history.js';

const MOST_SHOWN = 100;
const ALL_ROWS = 1_000_000_000;
/** A recount takes minutes, so it may wait longer for the projection than a query. */
const COUNTED_WITHIN_MS = 60_000;

/** A row of either kind. */
type CountedRow = Pick<PageRow, keyof BoxRow | 'executions'> &
  Partial<Omit<PageRow, keyof BoxRow>> &
  Partial<Pick<ComputerPageRow, 'actions' | 'screenshots'>>;

interface CountedAccount {
  readonly rows: readonly CountedRow[];
  readonly unallocated: bigint;
}

interface Counted {
  readonly accounts: ReadonlyMap<string, CountedAccount>;
  /** The tables contain the log up to this position. */
  readonly position: bigint;
  /** Usage in progress is counted up to this moment, Unix milliseconds. What has ended, ended earlier. */
  readonly asOf: number;
}

interface Compared {
  readonly accountIds: readonly string[];
  readonly events: number;
  readonly rows: number;
  readonly differences: readonly UsageDifference[];
  readonly asOf: number;
}

/** Compares the rows of all accounts with a recount from the log. */
@Injectable()
export class UsageVerifier {
  constructor(
    @Inject(Database) private readonly database: Pick<Database, 'transaction'>,
    private readonly store: EventStore,
    private readonly counted: CountedUntil,
    private readonly countedOfComputers: ComputersCountedUntil,
    private readonly clock: Clock,
  ) {}

  /** Errors: invalid `invalid_request` for the range; unavailable `service_unavailable`. */
  async run(request: VerifyUsage): Promise<UsageVerification> {
    const range = rangeOf(request, this.clock.now());
    const agents = await this.#compare(AGENTS, this.counted, range);
    const computers = await this.#compare(COMPUTERS, this.countedOfComputers, range);
    const differences = [...agents.differences, ...computers.differences];
    return {
      ...{ from: isoTime(range.from * DAY_MS), to: isoTime(range.to * DAY_MS) },
      asOf: isoTime(Math.max(agents.asOf, computers.asOf)),
      accounts: new Set([...agents.accountIds, ...computers.accountIds]).size,
      events: agents.events + computers.events,
      rows: agents.rows + computers.rows,
      differing: differences.length,
      differences: differences.slice(0, MOST_SHOWN),
    };
  }

  async #compare(kind: MeteredKind, until: CountedUntil, range: DayRange): Promise<Compared> {
    const now = await until.patiently(COUNTED_WITHIN_MS);
    const counted = await inSnapshot(this.database, (tx) => this.#read(kind, tx, range, now));
    const { asOf, accounts } = counted;
    const { log, events } = await this.#readLog(kind, counted.position);
    let rows = 0;
    const differences: UsageDifference[] = [];
    for (const [accountId, account] of accounts) {
      const again = recount(log, accountId, range, asOf);
      rows += again.rows.length;
      differences.push(...differencesOf(accountId, account, again));
    }
    return { accountIds: [...accounts.keys()], events, rows, differences, asOf };
  }

  async #read(kind: MeteredKind, tx: SqlRunner, range: DayRange, now: number): Promise<Counted> {
    const { latest: latestTable, terms, boxes } = kind.tables;
    const [latest] = await tx.query<{ readonly position: string; readonly latest_ms: string }>(
      `SELECT position, latest_ms FROM ${latestTable}`,
    );
    const asOf = Math.max(now, Number(latest?.latest_ms ?? now));
    const ids = await tx.query<{ readonly id: string }>(
      `SELECT account_id AS id FROM ${terms} UNION SELECT account_id FROM ${boxes} ORDER BY id`,
    );
    const accounts = new Map<string, CountedAccount>();
    for (const { id } of ids) {
      const request = { accountId: id, externalUserId: null, boxId: null, cursor: null, limit: ALL_ROWS };
      const read = await readUsage<CountedRow>(tx, request, { kind, daily: true, range, asOf });
      accounts.set(id, { rows: read.rows, unallocated: kind.sharesSeats ? unallocatedIn(read) : 0n });
    }
    return { accounts, position: BigInt(latest?.position ?? -1), asOf };
  }

  async #readLog(
    kind: MeteredKind,
    until: bigint,
  ): Promise<{ readonly log: RecountedLog; readonly events: number }> {
    const recounted = kind === AGENTS ? 'agent' : 'computer';
    const reader = new RecountReader(recounted);
    const end = new AbortController();
    let events = 0;
    try {
      const categories = RECOUNTED_CATEGORIES[recounted];
      const options = { from: 'start', categories, signal: end.signal } as const;
      for await (const item of this.store.subscribe(options)) {
        if (item.kind === 'caughtUp' || (item.kind === 'event' && item.event.position > until)) break;
        if (item.kind !== 'event') continue;
        reader.read(item.event);
        events++;
      }
    } finally {
      end.abort();
    }
    return { log: reader.log(), events };
  }
}

type Figures = Readonly<Record<string, string>>;

/** What a row does not count is 0. */
const countedFigures = (row: CountedRow): Figures => ({
  activeMilliseconds: row.active_ms,
  vcpu: row.vcpu,
  mem: row.mem,
  disk: row.disk,
  wakes: row.wakes,
  chats: row.chats ?? '0',
  executions: row.executions,
  actions: row.actions ?? '0',
  screenshots: row.screenshots ?? '0',
  llmRequests: row.llm_requests ?? '0',
  inputTokens: row.input_tokens ?? '0',
  outputTokens: row.output_tokens ?? '0',
  ai: row.ai ?? '0',
  hosting: row.hosting,
  hostingBasis: String(row.seat),
});

const recountedFigures = (row: RecountedRow): Figures => ({
  activeMilliseconds: String(row.activeMs),
  vcpu: String(row.vcpu),
  mem: String(row.mem),
  disk: String(row.disk),
  wakes: String(row.wakes),
  chats: String(row.chats),
  executions: String(row.executions),
  actions: String(row.actions),
  screenshots: String(row.screenshots),
  llmRequests: String(row.llmRequests),
  inputTokens: String(row.inputTokens),
  outputTokens: String(row.outputTokens),
  ai: String(row.ai),
  hosting: String(row.hosting),
  hostingBasis: row.seat ? '1' : '0',
});

const differencesOf = (
  accountId: string,
  counted: CountedAccount,
  again: RecountedAccount,
): readonly UsageDifference[] => {
  const keyOf = (day: string | number, boxId: string | null): string => `${String(day)} ${boxId ?? ''}`;
  const one = new Map(counted.rows.map((row) => [keyOf(row.day, row.box_id), countedFigures(row)]));
  const other = new Map(again.rows.map((row) => [keyOf(row.day, row.boxId), recountedFigures(row)]));
  const found = [...new Set([...one.keys(), ...other.keys()])].flatMap((key) => {
    const [day = '', agentId = ''] = key.split(' ');
    const place = { accountId, date: dateOf(Number(day)), agentId };
    return membersThatDiffer(one.get(key) ?? {}, other.get(key) ?? {}).map((difference) => ({
      ...place,
      ...difference,
    }));
  });
  const [shown, expected] = [String(counted.unallocated), String(again.unallocated)];
  if (shown === expected) return found;
  const whole = { accountId, date: null, agentId: null, member: 'unallocated' };
  return [...found, { ...whole, counted: shown, recounted: expected }];
};

const membersThatDiffer = (
  one: Figures,
  other: Figures,
): readonly Pick<UsageDifference, 'member' | 'counted' | 'recounted'>[] =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])]
    .filter((member) => one[member] !== other[member])
    .map((member) => ({ member, counted: one[member] ?? null, recounted: other[member] ?? null }));
