import type { ProjectionRunner } from '@berth/event-store';
import type { Millionths } from '@berth/kernel';
import { InjectProjection } from '@berth/service';
import { Injectable } from '@nestjs/common';
import type { AccountLedgerEvent, CallFacts } from '../account-ledger/account-ledger.events.js';
import type { AccountLedgerCommand, Fail, Settle } from '../account-ledger/account-ledger.decider.js';
import { AccountLedgerStreams } from '../account-ledger/account-ledger.streams.js';
import { callListProjection } from '../call-list/call-list.projection.js';
import { endUserLedgerId, type EndUserLedgerEvent } from '../end-user-ledger/end-user-ledger.events.js';
import type { EndUserLedgerCommand } from '../end-user-ledger/end-user-ledger.decider.js';
import { EndUserLedgerStreams } from '../end-user-ledger/end-user-ledger.streams.js';
import type { CallDemand } from '../ledger/call-demand.js';
import { LedgerQueue } from '../ledger/ledger-queue.js';
import { load } from '../ledger/stored-amount.js';
import { affordedOutput } from '../ledger/token-price.js';

/** A call and the accounts that pay for it. */
export interface ChargedCall extends CallFacts {
  readonly accountId: string;
  /** The monthly cap of the end user in force, in millionths of a cent; null: none. */
  readonly cap: Millionths | null;
  readonly countsCredits: boolean;
}

/** What the ledgers allow. */
export type Reservation =
  | { readonly kind: 'reserved'; readonly outputTokens: number }
  | { readonly kind: 'refused'; readonly code: string };

/**
 * The two ledgers of a call: that of the end user's month first, then that of the account, which is the record of the call. In
 * between a crash may leave the first one reserved; `SettleLostCalls` then releases it.
 */
@Injectable()
export class CallLedgers {
  readonly #accounts: LedgerQueue<unknown, AccountLedgerCommand, AccountLedgerEvent>;
  readonly #endUsers: LedgerQueue<unknown, EndUserLedgerCommand, EndUserLedgerEvent>;

  constructor(
    accounts: AccountLedgerStreams,
    endUsers: EndUserLedgerStreams,
    @InjectProjection(callListProjection) private readonly list: Pick<ProjectionRunner, 'waitFor'>,
  ) {
    this.#accounts = new LedgerQueue(accounts);
    this.#endUsers = new LedgerQueue(endUsers);
  }

  async reserve(call: ChargedCall, demand: CallDemand): Promise<Reservation> {
    const forAccount = await this.reserveSpend(call, demand);
    if (forAccount === undefined) {
      await this.refuse(call, 'spend_cap_reached');
      return { kind: 'refused', code: 'spend_cap_reached' };
    }
    const { accountId, cap: _cap, countsCredits, ...facts } = call;
    const command = { type: 'Reserve', call: facts, demand: forAccount, countsCredits } as const;
    const { events, position } = await this.#accounts.submit(accountId, accountId, command);
    const decided = events.find((event) => 'callId' in event && event.callId === call.callId);
    if (decided?.type === 'LlmCallReserved')
      return { kind: 'reserved', outputTokens: affordedOutput(forAccount.bound, load(decided.reserved)) };
    if (decided?.type !== 'LlmCallRefused') throw new Error('A reservation was neither made nor refused.');
    await this.settleSpend(call, 0n, call.startedAt);
    await this.listed(position);
    return { kind: 'refused', code: decided.code };
  }

  /** Records a call that is not sent. */
  async refuse(call: ChargedCall, code: string): Promise<void> {
    const { accountId, cap: _cap, countsCredits: _counts, ...facts } = call;
    const { position } = await this.#accounts.submit(accountId, accountId, {
      type: 'Refuse',
      call: facts,
      code,
    });
    await this.listed(position);
  }

  /** Ends a call; a call that has ended already stays as it is. Repeat it until it succeeds. */
  async end(
    call: Pick<ChargedCall, 'accountId' | 'callId' | 'endUserId' | 'startedAt'>,
    command: Settle | Fail,
  ): Promise<void> {
    const { accountId, callId } = call;
    const { events } = await this.#accounts.submit(accountId, accountId, command);
    const ended = events.find((event) => 'callId' in event && event.callId === callId);
    // Else another process has ended it, or it never was reserved: `SettleLostCalls` finds the cost.
    if (ended?.type === 'LlmCallSettled') await this.settleSpend(call, load(ended.cost), command.endedAt);
    if (ended?.type === 'LlmCallFailed') await this.settleSpend(call, 0n, command.endedAt);
  }

  /** Ends a call that is not sent, although one ledger or both may have reserved it. Repeat it until it succeeds. */
  async abandon(
    call: Pick<ChargedCall, 'accountId' | 'callId' | 'endUserId' | 'startedAt'>,
    endedAt: string,
  ): Promise<void> {
    await this.end(call, { type: 'Fail', callId: call.callId, endedAt });
    await this.settleSpend(call, 0n, endedAt);
  }

  async settleSpend(
    {
      accountId,
      callId,
      endUserId,
      startedAt,
    }: Pick<ChargedCall, 'accountId' | 'callId' | 'endUserId' | 'startedAt'>,
    cost: Millionths,
    at: string,
  ): Promise<void> {
    if (endUserId === null) return;
    const ledgerId = endUserLedgerId(endUserId, startedAt);
    await this.#endUsers.submit(ledgerId, accountId, { type: 'SettleSpend', ledgerId, callId, cost, at });
  }

  /** So that a chat whose program fails at once is told why. */
  private async listed(position: bigint | null): Promise<void> {
    if (position !== null) await this.list.waitFor(position);
  }

  /** Returns what is left to ask of the account; undefined if the cap refuses the call. */
  private async reserveSpend(call: ChargedCall, demand: CallDemand): Promise<CallDemand | undefined> {
    const { accountId, callId, endUserId, cap, instance, startedAt: at } = call;
    if (endUserId === null) return demand;
    const ledgerId = endUserLedgerId(endUserId, at);
    const command = { type: 'ReserveSpend', ledgerId, callId, demand, cap, instance, at } as const;
    const { events } = await this.#endUsers.submit(ledgerId, accountId, command);
    const reserved = events.find((event) => event.type === 'LlmSpendReserved' && event.callId === callId);
    if (reserved?.type !== 'LlmSpendReserved') return undefined;
    const outputTokens = affordedOutput(demand.bound, load(reserved.amount));
    return { ...demand, bound: { ...demand.bound, outputTokens } };
  }
}
