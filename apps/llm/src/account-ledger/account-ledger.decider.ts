import type { Decider, Millionths } from '@berth/kernel';
import { allow, type Allowance, type CallDemand } from '../ledger/call-demand.js';
import { load, plus, store, type StoredAmount } from '../ledger/stored-amount.js';
import type { Rates, Tokens } from '../ledger/token-price.js';
import type { AccountLedgerEvent, CallFacts, LlmCallReserved } from './account-ledger.events.js';

/** How many calls of an agent may be in flight, in all processes together. */
export const MOST_IN_FLIGHT = 64;

export interface OpenCall extends CallFacts {
  readonly reserved: StoredAmount;
}

export interface AccountLedger {
  /** Null: no credits are counted. Calls that are over have been taken from it. */
  readonly balance: StoredAmount | null;
  /** The highest possible cost of the open calls. */
  readonly reserved: StoredAmount;
  readonly open: Readonly<Record<string, OpenCall>>;
}

export interface Reserve {
  readonly type: 'Reserve';
  readonly call: CallFacts;
  readonly demand: CallDemand;
  /** Whether the account begins with credits of 0; otherwise none are counted until the first grant. */
  readonly countsCredits: boolean;
}

/** Records a call that was refused elsewhere. */
export interface Refuse {
  readonly type: 'Refuse';
  readonly call: CallFacts;
  readonly code: string;
}

/** The outcome of a call; `cost` is null if it is unknown. */
export interface Settle {
  readonly type: 'Settle';
  readonly callId: string;
  readonly tokens: Tokens;
  readonly cost: Millionths | null;
  readonly endedAt: string;
}

export interface Fail {
  readonly type: 'Fail';
  readonly callId: string;
  readonly endedAt: string;
}

export interface Grant {
  readonly type: 'Grant';
  readonly accountId: string;
  readonly amount: Millionths;
  readonly note: string | null;
  readonly at: string;
}

export type AccountLedgerCommand = Reserve | Refuse | Settle | Fail | Grant;

/** A command is a list, so that concurrent calls of an account are decided in one append. */
export const accountLedgerDecider: Decider<
  AccountLedger,
  readonly AccountLedgerCommand[],
  AccountLedgerEvent
> = {
  initial: { balance: null, reserved: '0', open: {} },
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

const decideOne = (command: AccountLedgerCommand, state: AccountLedger): readonly AccountLedgerEvent[] => {
  switch (command.type) {
    case 'Reserve':
      return [decideReserve(command, state)];
    case 'Refuse':
      return [{ type: 'LlmCallRefused', ...command.call, code: command.code }];
    case 'Grant': {
      const { accountId, amount, note, at } = command;
      return [{ type: 'CreditsGranted', accountId, amount: store(amount), note, at }];
    }
    case 'Settle':
    case 'Fail':
      return decideEnd(command, state);
  }
};

const decideReserve = (
  { call, demand, countsCredits }: Reserve,
  { balance, reserved, open }: AccountLedger,
): AccountLedgerEvent => {
  const refused = (code: string): AccountLedgerEvent => ({ type: 'LlmCallRefused', ...call, code });
  const inFlight = Object.values(open).filter(({ agentId }) => agentId === call.agentId).length;
  if (inFlight >= MOST_IN_FLIGHT) return refused('rate_limited');
  const credits = balance ?? (countsCredits ? '0' : null);
  const left = credits === null ? null : load(credits) - load(reserved);
  const allowance = credits !== null && load(credits) <= 0n ? undefined : allow(demand, left);
  return allowance === undefined ? refused('insufficient_credits') : reservedFor(call, demand, allowance);
};

const reservedFor = (call: CallFacts, { bound }: CallDemand, { amount }: Allowance): LlmCallReserved => ({
  type: 'LlmCallReserved',
  ...call,
  rates: storedRates(bound.rates),
  reserved: store(amount),
});

const storedRates = (rates: Rates): LlmCallReserved['rates'] => ({
  input: store(rates.input),
  cachedInput: store(rates.cachedInput),
  cacheWrite: store(rates.cacheWrite),
  output: store(rates.output),
  reasoning: store(rates.reasoning),
});

/** A call ends once: a later end changes nothing. */
const decideEnd = (command: Settle | Fail, { open }: AccountLedger): readonly AccountLedgerEvent[] => {
  const call = open[command.callId];
  if (call === undefined) return [];
  const { reserved, ...facts } = call;
  const { endedAt } = command;
  if (command.type === 'Fail') return [{ type: 'LlmCallFailed', ...facts, endedAt }];
  const { tokens, cost } = command;
  return [
    {
      type: 'LlmCallSettled',
      ...facts,
      estimated: cost === null,
      tokens,
      cost: cost === null ? reserved : store(cost),
      endedAt,
    },
  ];
};

const evolve = (state: AccountLedger, event: AccountLedgerEvent): AccountLedger => {
  switch (event.type) {
    case 'CreditsGranted':
      return { ...state, balance: plus(state.balance ?? '0', load(event.amount)) };
    case 'LlmCallReserved': {
      const { type: _type, rates: _rates, ...call } = event;
      return {
        ...state,
        reserved: plus(state.reserved, load(event.reserved)),
        open: { ...state.open, [event.callId]: call },
      };
    }
    case 'LlmCallSettled':
      return close(state, event.callId, load(event.cost));
    case 'LlmCallFailed':
      return close(state, event.callId, 0n);
    case 'LlmCallRefused':
      return state;
  }
};

const close = (state: AccountLedger, callId: string, cost: Millionths): AccountLedger => {
  const { [callId]: call, ...open } = state.open;
  return {
    balance: state.balance === null ? null : plus(state.balance, -cost),
    reserved: plus(state.reserved, -load(call?.reserved ?? '0')),
    open,
  };
};
