import { decideGiven, isDomainError, type Decided } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { hostDecider, type HostCommand } from './host.decider.js';
import type { HostEvent } from './host.js';

const hostId = 'hst_01';
const at = '2026-11-22T08:00:00.000Z';
const joined: HostEvent = { type: 'HostJoined', data: { hostId, name: 'one', at } };
const drained: HostEvent = { type: 'HostDrained', data: { hostId, at } };
const resumed: HostEvent = { type: 'HostResumed', data: { hostId, at } };
const removed: HostEvent = { type: 'HostRemoved', data: { hostId, at } };
const join: HostCommand = { type: 'Join', hostId, name: 'one', at };
const command = (type: 'Drain' | 'Resume' | 'Remove'): HostCommand => ({ type, at });

const given = (history: readonly HostEvent[], one: HostCommand): Decided<HostEvent> =>
  decideGiven(hostDecider, history, one);
const codeOf = ({ refusal }: Decided<HostEvent>): string | undefined =>
  isDomainError(refusal) ? refusal.code : undefined;

describe('a host', () => {
  it('joins once', () => {
    expect(given([], join).events).toEqual([joined]);
    expect(given([joined], join).events).toEqual([]);
    expect(given([joined, drained], join).events).toEqual([]);
  });

  it('is drained and resumed, and a repetition has no effect', () => {
    expect(given([joined], command('Drain')).events).toEqual([drained]);
    expect(given([joined, drained], command('Drain')).events).toEqual([]);
    expect(given([joined, drained], command('Resume')).events).toEqual([resumed]);
    expect(given([joined], command('Resume')).events).toEqual([]);
  });

  it('never joins again after its removal', () => {
    for (const history of [[joined], [joined, drained]])
      expect(given(history, command('Remove')).events).toEqual([removed]);
    expect(codeOf(given([joined, removed], join))).toBe('host_removed');
  });

  it('is unknown before it has joined and after its removal', () => {
    for (const history of [[], [joined, removed]])
      for (const type of ['Drain', 'Resume', 'Remove'] as const)
        expect(codeOf(given(history, command(type)))).toBe('host_not_found');
  });
});
