import { join } from 'node:path';
import { decideGiven } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { describeGoldenEvents } from '@berth/testing';
import { accountDecider, type UpdateAccount } from './account.decider.js';
import { accountCodec } from './account.events.js';

const NOW = Date.UTC(2026, 10, 21, 8);
const at = '2026-11-21T08:00:00.000Z';
const accountId = 'acc_1';
const open = { type: 'Open', accountId, name: 'Acme', plan: 'default', now: NOW } as const;
const opened = { type: 'AccountOpened.v2', accountId, name: 'Acme', plan: 'default', openedAt: at } as const;
const suspended = { type: 'AccountSuspended', accountId, suspendedAt: at } as const;

const update = (change: Partial<UpdateAccount>): UpdateAccount => ({
  type: 'Update',
  name: null,
  plan: null,
  suspended: null,
  isFirst: false,
  now: NOW,
  ...change,
});

describeGoldenEvents(join(import.meta.dirname, '__events__'), accountCodec, {
  'AccountOpened.v2': true,
  AccountChanged: true,
  AccountSuspended: true,
  AccountResumed: true,
});

describe('an account', () => {
  it('is opened with its name and plan', () => {
    expect(decideGiven(accountDecider, [], open).events).toEqual([opened]);
  });

  it('is opened only once: opening it again changes nothing, not even its plan', () => {
    expect(decideGiven(accountDecider, [opened], { ...open, plan: 'other' })).toEqual({
      events: [],
      refusal: undefined,
    });
  });

  it('keeps the members that an update leaves out', () => {
    expect(decideGiven(accountDecider, [opened], update({ plan: 'seats' })).events).toEqual([
      { type: 'AccountChanged', accountId, name: 'Acme', plan: 'seats', changedAt: at },
    ]);
    expect(decideGiven(accountDecider, [opened], update({ name: 'Acme' })).events).toEqual([]);
  });

  it('is suspended and resumed once, however often it is requested', () => {
    expect(decideGiven(accountDecider, [opened], update({ suspended: true })).events).toEqual([suspended]);
    expect(decideGiven(accountDecider, [opened, suspended], update({ suspended: true })).events).toEqual([]);
    expect(decideGiven(accountDecider, [opened, suspended], update({ suspended: false })).events).toEqual([
      { type: 'AccountResumed', accountId, resumedAt: at },
    ]);
    expect(decideGiven(accountDecider, [opened], update({ suspended: false })).events).toEqual([]);
  });

  it('that is the first of the installation is never suspended, and such an update changes nothing else', () => {
    const command = update({ suspended: true, name: 'Renamed', isFirst: true });
    expect(decideGiven(accountDecider, [opened], command)).toMatchObject({
      refusal: { kind: 'conflict', code: 'first_account' },
    });
  });

  it('must exist to be updated', () => {
    expect(decideGiven(accountDecider, [], update({ name: 'x' })).refusal).toMatchObject({
      code: 'account_not_found',
    });
  });
});
