import { join } from 'node:path';
import { decideGiven } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { callFacts, demandOf, RATES } from '../fixtures/calls.fixture.js';
import { NO_TOKENS } from '../ledger/token-price.js';
import {
  accountLedgerDecider,
  MOST_IN_FLIGHT,
  type AccountLedgerCommand,
  type Reserve,
} from './account-ledger.decider.js';
import { accountLedgerCodec, type AccountLedgerEvent, type CallFacts } from './account-ledger.events.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), accountLedgerCodec, {
  CreditsGranted: true,
  LlmCallReserved: true,
  LlmCallRefused: true,
  LlmCallSettled: true,
  LlmCallFailed: true,
});

const decide = (given: readonly AccountLedgerEvent[], ...commands: readonly AccountLedgerCommand[]) =>
  decideGiven(accountLedgerDecider, given, commands).events;
const stateAfter = (events: readonly AccountLedgerEvent[]) =>
  events.reduce(accountLedgerDecider.evolve, accountLedgerDecider.initial);

/** Costs 10 + 20 cents at most. */
const reserve = (callId: string, more: Partial<Reserve> = {}, facts: Partial<CallFacts> = {}): Reserve => ({
  type: 'Reserve',
  call: callFacts(callId, facts),
  demand: demandOf(10, 10),
  countsCredits: true,
  ...more,
});
const granted = (amount: number): AccountLedgerEvent => ({
  type: 'CreditsGranted',
  accountId: 'acc_1',
  amount: String(amount),
  note: null,
  at: 'then',
});
const settle = (callId: string, cost: bigint | null): AccountLedgerCommand => ({
  type: 'Settle',
  callId,
  tokens: NO_TOKENS,
  cost,
  endedAt: 'now',
});

describe('a reservation', () => {
  it('is made if the most it can cost fits into the remaining credits, to the last millionth', () => {
    expect(decide([granted(30)], reserve('1'))).toMatchObject([
      { type: 'LlmCallReserved', callId: '1', reserved: '30', rates: { output: String(RATES.output) } },
    ]);
    expect(decide([granted(29)], reserve('1'))).toMatchObject([
      { type: 'LlmCallRefused', code: 'insufficient_credits' },
    ]);
    const first = [granted(59), ...decide([granted(59)], reserve('1'))];
    expect(decide(first, reserve('2'))).toMatchObject([{ code: 'insufficient_credits' }]);
  });

  it('takes what the credits afford if the caller set no limit', () => {
    const demand = { ...demandOf(10, 10), mayShrink: true };
    expect(decide([granted(15)], reserve('1', { demand }))).toMatchObject([{ reserved: '14' }]);
    expect(decide([granted(11)], reserve('1', { demand }))).toMatchObject([{ type: 'LlmCallRefused' }]);
  });

  it('is refused without credits, also of a model that costs nothing, unless none are counted', () => {
    const free = { ...demandOf(0, 0), mayShrink: false };
    expect(decide([], reserve('1', { demand: free }))).toMatchObject([{ type: 'LlmCallRefused' }]);
    expect(decide([], reserve('1', { countsCredits: false }))).toMatchObject([{ type: 'LlmCallReserved' }]);
  });

  it(`is refused to an agent with ${String(MOST_IN_FLIGHT)} calls in flight, and only to it`, () => {
    const open = decide(
      [],
      ...Array.from({ length: 65 }, (_, index) => reserve(String(index), { countsCredits: false })),
    );
    expect(open.map(({ type }) => type)).toEqual([
      ...Array.from({ length: 64 }, () => 'LlmCallReserved'),
      'LlmCallRefused',
    ]);
    expect(open.at(-1)).toMatchObject({ code: 'rate_limited' });
    const another = reserve('other', { countsCredits: false }, { agentId: 'agt_other' });
    expect(decide(open, another)).toMatchObject([{ type: 'LlmCallReserved' }]);
    const closed = [...open, ...decide(open, settle('0', 1n))];
    expect(decide(closed, reserve('next', { countsCredits: false }))).toMatchObject([
      { type: 'LlmCallReserved' },
    ]);
  });
});

describe('the end of a call', () => {
  const reserved = decide([granted(30)], reserve('1'));
  const given = [granted(30), ...reserved];

  it('takes its cost from the balance and releases the reservation, once', () => {
    const settled = decide(given, settle('1', 7n));
    expect(settled).toMatchObject([{ type: 'LlmCallSettled', callId: '1', estimated: false, cost: '7' }]);
    expect(stateAfter([...given, ...settled])).toEqual({ balance: '23', reserved: '0', open: {} });
    expect(decide([...given, ...settled], settle('1', 7n), settle('1', null))).toEqual([]);
  });

  it('of unknown cost takes what was reserved', () => {
    expect(decide(given, settle('1', null))).toMatchObject([{ estimated: true, cost: '30' }]);
  });

  it('may take the balance below 0, where the next call is refused', () => {
    const settled = [...given, ...decide(given, settle('1', 31n))];
    expect(stateAfter(settled).balance).toBe('-1');
    expect(decide(settled, reserve('2'))).toMatchObject([{ code: 'insufficient_credits' }]);
  });

  it('by a fault of the upstream costs nothing', () => {
    const failed = decide(given, { type: 'Fail', callId: '1', endedAt: 'now' });
    expect(failed).toMatchObject([{ type: 'LlmCallFailed', callId: '1' }]);
    expect(stateAfter([...given, ...failed])).toEqual({ balance: '30', reserved: '0', open: {} });
  });
});

describe('the first grant of an account whose credits were not counted', () => {
  it('is the balance from then on; earlier spending is not deducted', () => {
    const spent = decide([], reserve('1', { countsCredits: false }));
    const settled = [...spent, ...decide(spent, settle('1', 7n))];
    expect(stateAfter(settled).balance).toBeNull();
    const grant = { type: 'Grant', accountId: 'acc_1', amount: 5n, note: null, at: 'now' } as const;
    expect(stateAfter([...settled, ...decide(settled, grant)]).balance).toBe('5');
  });
});
