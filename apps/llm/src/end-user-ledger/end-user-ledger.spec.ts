import { join } from 'node:path';
import { decideGiven } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { demandOf } from '../fixtures/calls.fixture.js';
import { endUserLedgerDecider, type EndUserLedgerCommand } from './end-user-ledger.decider.js';
import {
  endUserLedgerCodec,
  endUserLedgerId,
  partsOfLedgerId,
  type EndUserLedgerEvent,
} from './end-user-ledger.events.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), endUserLedgerCodec, {
  LlmSpendReserved: true,
  LlmSpendSettled: true,
  CapThresholdReached: true,
});

const LEDGER = 'eus_1.2026-11';

const decide = (given: readonly EndUserLedgerEvent[], ...commands: readonly EndUserLedgerCommand[]) =>
  decideGiven(endUserLedgerDecider, given, commands).events;
const after = (...rounds: readonly (readonly EndUserLedgerCommand[])[]): readonly EndUserLedgerEvent[] =>
  rounds.reduce<readonly EndUserLedgerEvent[]>((given, round) => [...given, ...decide(given, ...round)], []);
/** Reserves at most 100 millionths of a cent. */
const reserve = (callId: string, cap: bigint | null, mayShrink = false): EndUserLedgerCommand => ({
  type: 'ReserveSpend',
  ledgerId: LEDGER,
  callId,
  demand: { ...demandOf(20, 40), mayShrink },
  cap,
  instance: 'i',
  at: 'now',
});
const settle = (callId: string, cost: bigint): EndUserLedgerCommand => ({
  type: 'SettleSpend',
  ledgerId: LEDGER,
  callId,
  cost,
  at: 'now',
});
const percents = (events: readonly EndUserLedgerEvent[]): readonly number[] =>
  events.flatMap((event) => (event.type === 'CapThresholdReached' ? [event.percent] : []));
const types = (events: readonly EndUserLedgerEvent[]): readonly string[] => events.map(({ type }) => type);

describe('a cap', () => {
  it('counts what is settled and what is reserved, to the last millionth', () => {
    expect(types(decide([], reserve('1', 100n)))).toEqual(['LlmSpendReserved']);
    expect(types(decide([], reserve('1', 99n)))).toEqual([]);
    expect(types(decide([], reserve('1', 299n), reserve('2', 299n), reserve('3', 299n)))).toEqual([
      'LlmSpendReserved',
      'LlmSpendReserved',
    ]);
    const settled = after([reserve('1', 150n)], [settle('1', 50n)]);
    expect(types(decide(settled, reserve('2', 150n)))).toEqual(['LlmSpendReserved']);
    expect(types(decide(settled, reserve('2', 149n)))).toEqual([]);
  });

  it('of 0 refuses every call, and no cap admits every call', () => {
    expect(types(decide([], reserve('1', 0n, true)))).not.toContain('LlmSpendReserved');
    expect(types(decide([], reserve('1', null)))).toEqual(['LlmSpendReserved']);
  });

  it('that is set later counts what was spent without one', () => {
    const spent = after([reserve('1', null)], [settle('1', 60n)]);
    expect(types(decide(spent, reserve('2', 159n)))).toEqual([]);
  });

  it('limits the output of a call without a limit of its own', () => {
    expect(decide([], reserve('1', 51n, true))).toMatchObject([{ type: 'LlmSpendReserved', amount: '50' }]);
  });

  it('counts a call once, even if it is settled twice', () => {
    const ended = after([reserve('1', 100n)], [settle('1', 10n)]);
    expect(decide(ended, settle('1', 10n))).toEqual([]);
  });
});

describe('the thresholds of a cap', () => {
  it('are reached by what is settled, each once in a month', () => {
    expect(percents(after([reserve('1', 200n)]))).toEqual([]);
    expect(percents(after([reserve('1', 200n)], [settle('1', 99n)]))).toEqual([]);
    const half = after([reserve('1', 200n)], [settle('1', 100n)]);
    expect(percents(half)).toEqual([50]);
    expect(half.at(-1)).toMatchObject({ endUserId: 'eus_1', period: '2026-11-01' });
    const all = [...half, ...decide(half, reserve('2', 200n))];
    expect(percents(decide(all, settle('2', 100n)))).toEqual([80, 100]);
  });

  it('are all reached when nothing is left for a call', () => {
    expect(percents(decide([], reserve('1', 0n)))).toEqual([50, 80, 100]);
    const spent = after([reserve('1', 100n)], [settle('1', 60n)]);
    expect(percents(decide(spent, reserve('2', 61n, true)))).toEqual([80, 100]);
    expect(percents(decide(spent, reserve('2', 100n, false)))).toEqual([]);
  });
});

it('a call belongs to the ledger of the month in which it began', () => {
  expect(endUserLedgerId('eus_1', '2026-11-30T23:59:59.999Z')).toBe('eus_1.2026-11');
  expect(partsOfLedgerId('eus_1.2026-11')).toEqual({ endUserId: 'eus_1', month: '2026-11' });
});
