import { join } from 'node:path';
import { decideGiven } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { describeGoldenEvents } from '@berth/testing';
import { accountDecider } from './account.decider.js';
import { accountCodec } from './account.events.js';

const NOW = Date.UTC(2026, 10, 21, 8);
const open = { accountId: 'acc_1', plan: 'default', now: NOW };

describeGoldenEvents(join(import.meta.dirname, '__events__'), accountCodec, { AccountOpened: true });

describe('an account', () => {
  it('is opened with its plan', () => {
    expect(decideGiven(accountDecider, [], open).events).toEqual([
      { type: 'AccountOpened', accountId: 'acc_1', plan: 'default', openedAt: '2026-11-21T08:00:00.000Z' },
    ]);
  });

  it('is opened only once: opening it again changes nothing, not even its plan', () => {
    const { events } = decideGiven(accountDecider, [], open);
    expect(decideGiven(accountDecider, events, { ...open, plan: 'other' })).toEqual({
      events: [],
      refusal: undefined,
    });
  });
});
