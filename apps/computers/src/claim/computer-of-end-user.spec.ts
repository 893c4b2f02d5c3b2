import { join } from 'node:path';
import { decideGiven } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import {
  claimCodec,
  claimDecider,
  type ClaimComputer,
  type ComputerOfEndUserClaimed,
} from './computer-of-end-user.js';

const at = '2026-11-28T10:00:00.000Z';
const claim = (computerId: string, instead: string | null = null): ClaimComputer => ({
  ...{ endUserId: 'eus_1', computerId, instead, at },
});
const claimed = (computerId: string): ComputerOfEndUserClaimed => ({
  type: 'ComputerOfEndUserClaimed',
  data: { endUserId: 'eus_1', computerId, at },
});
const eventsOf = (history: readonly ComputerOfEndUserClaimed[], command: ClaimComputer) =>
  decideGiven(claimDecider, history, command).events;

describeGoldenEvents(join(import.meta.dirname, '__events__'), claimCodec, { ComputerOfEndUserClaimed: true });

describe('the claim on being the computer of an end user', () => {
  it('is held by the first, and by no later one', () => {
    expect(eventsOf([], claim('cmp_1'))).toEqual([claimed('cmp_1')]);
    expect(eventsOf([claimed('cmp_1')], claim('cmp_2'))).toEqual([]);
  });

  it('passes on to another only instead of the one that holds it', () => {
    expect(eventsOf([claimed('cmp_1')], claim('cmp_2', 'cmp_1'))).toEqual([claimed('cmp_2')]);
    expect(eventsOf([claimed('cmp_1'), claimed('cmp_2')], claim('cmp_3', 'cmp_1'))).toEqual([]);
  });
});
