import type { Decider, Millionths } from '@berth/kernel';
import { allow, type CallDemand } from '../ledger/call-demand.js';
import { load, plus, store, type StoredAmount } from '../ledger/stored-amount.js';
import {
  partsOfLedgerId,
  type CapThresholdReached,
  type EndUserLedgerEvent,
} from './end-user-ledger.events.js';

/** The percentages of a cap that are recorded. */
const THRESHOLDS = [50, 80, 100] as const;

export interface EndUserLedger {
  readonly settled: StoredAmount;
  readonly reserved: StoredAmount;
  readonly open: Readonly<
    Record<string, { readonly amount: StoredAmount; readonly cap: StoredAmount | null }>
  >;
  /** The highest threshold that was recorded; 0 before the first. */
  readonly threshold: number;
}

export interface ReserveSpend {
  readonly type: 'ReserveSpend';
  readonly ledgerId: string;
  readonly callId: string;
  readonly demand: CallDemand;
  /** In millionths of a cent; null: none. */
  readonly cap: Millionths | null;
  readonly instance: string;
  readonly at: string;
}

export interface SettleSpend {
  readonly type: 'SettleSpend';
  readonly ledgerId: string;
  readonly callId: string;
  readonly cost: Millionths;
  readonly at: string;
}

export type EndUserLedgerCommand = ReserveSpend | SettleSpend;

/**
 * A command is a list, so that concurrent calls of an end user are decided in one append. A call that does not fit has no
 * `LlmSpendReserved` among the events.
 */
export const endUserLedgerDecider: Decider<
  EndUserLedger,
  readonly EndUserLedgerCommand[],
  EndUserLedgerEvent
> = {
  initial: { settled: '0', reserved: '0', open: {}, threshold: 0 },
  decide: (commands, before) => {
    let state = before;
    return commands.flatMap((command) => {
      const events = decideOne(command, state);
      state = events.reduce(evolve, state);
      return events;
    });
  },
  evolve: (state, event) => evolve(state, event),
};

const decideOne = (command: EndUserLedgerCommand, state: EndUserLedger): readonly EndUserLedgerEvent[] =>
  command.type === 'ReserveSpend' ? decideReserve(command, state) : decideSettle(command, state);

const decideReserve = (command: ReserveSpend, state: EndUserLedger): readonly EndUserLedgerEvent[] => {
  const { callId, demand, cap, instance, at } = command;
  const left = cap === null ? null : cap - load(state.settled) - load(state.reserved);
  const allowance = left !== null && left <= 0n ? undefined : allow(demand, left);
  if (allowance !== undefined) {
    const amount = store(allowance.amount);
    return [
      { type: 'LlmSpendReserved', callId, amount, cap: cap === null ? null : store(cap), instance, at },
    ];
  }
  // Not even one token of output fits, or nothing is left: the cap is in effect used up.
  const isUsedUp = demand.mayShrink || left === null || left <= 0n;
  return isUsedUp && load(state.reserved) === 0n ? thresholdsUpTo(100, command, state) : [];
};

const decideSettle = (command: SettleSpend, state: EndUserLedger): readonly EndUserLedgerEvent[] => {
  const { callId, cost, at } = command;
  const open = state.open[callId];
  if (open === undefined) return [];
  const settled: EndUserLedgerEvent = { type: 'LlmSpendSettled', callId, cost: store(cost), at };
  if (open.cap === null) return [settled];
  const spent = load(state.settled) + cost;
  const cap = load(open.cap);
  const reached = THRESHOLDS.findLast((threshold) => spent * 100n >= cap * BigInt(threshold)) ?? 0;
  return [settled, ...thresholdsUpTo(reached, command, state)];
};

const thresholdsUpTo = (
  reached: number,
  { ledgerId, at }: EndUserLedgerCommand,
  { threshold }: EndUserLedger,
): readonly CapThresholdReached[] => {
  const { endUserId, month } = partsOfLedgerId(ledgerId);
  return THRESHOLDS.filter((percent) => percent > threshold && percent <= reached).map((percent) => ({
    type: 'CapThresholdReached',
    endUserId,
    cap: 'llm_spend_cap_cents_per_month',
    period: `${month}-01`,
    percent,
    at,
  }));
};

const evolve = (state: EndUserLedger, event: EndUserLedgerEvent): EndUserLedger => {
  switch (event.type) {
    case 'LlmSpendReserved': {
      const { callId, amount, cap } = event;
      return {
        ...state,
        reserved: plus(state.reserved, load(amount)),
        open: { ...state.open, [callId]: { amount, cap } },
      };
    }
    case 'LlmSpendSettled': {
      const { [event.callId]: closed, ...open } = state.open;
      return {
        ...state,
        settled: plus(state.settled, load(event.cost)),
        reserved: plus(state.reserved, -load(closed?.amount ?? '0')),
        open,
      };
    }
    case 'CapThresholdReached':
      return { ...state, threshold: event.percent };
  }
};
