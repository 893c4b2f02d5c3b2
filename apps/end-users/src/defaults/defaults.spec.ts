import { join } from 'node:path';
import { decideGiven } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { defaultsDecider, type DefaultsEvent } from './defaults.js';
import { defaultsCodec, toDefaultsContractEvent } from './defaults.events.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), defaultsCodec, {
  EndUserDefaultsSet: true,
  EndUserDefaultsRemoved: true,
});

const accountId = 'acc_1';
const at = '2026-11-23T08:00:00.000Z';
const now = Date.parse(at);
const policy = { wakes_per_hour: 3 };
const set: DefaultsEvent = { type: 'EndUserDefaultsSet', accountId, policy, at };
const given = (events: DefaultsEvent[], command: { type: 'Set'; policy: object } | { type: 'Remove' }) =>
  decideGiven(defaultsDecider, events, { accountId, now, ...command }).events;

describe('the defaults of an account', () => {
  it('are replaced as a whole, and removed once', () => {
    expect(given([], { type: 'Set', policy })).toEqual([set]);
    expect(given([set], { type: 'Set', policy: {} })).toEqual([{ ...set, policy: {} }]);
    const [removed] = given([set], { type: 'Remove' });
    expect(removed).toEqual({ type: 'EndUserDefaultsRemoved', accountId, at });
    expect(given([], { type: 'Remove' })).toEqual([]);
  });

  it('are published with their policy, null after their removal', () => {
    const metadata = {
      correlationId: 'r',
      causationId: 'c',
      accountId,
      actor: { kind: 'key', id: 'key_1' },
    } as const;
    const read = {
      id: '1',
      stream: `endUserDefaults-${accountId}`,
      revision: 0n,
      position: 0n,
      createdAt: new Date(0),
      metadata,
    };
    const removed: DefaultsEvent = { type: 'EndUserDefaultsRemoved', accountId, at };
    const published = [set, removed].map((event) =>
      toDefaultsContractEvent({ ...read, ...defaultsCodec.toStored(event) }),
    );
    const subject = 'evt.end-users.defaults-changed.v1.acc_1.acc_1';
    expect(published).toEqual([
      { subject, payload: { accountId, policy, at } },
      { subject, payload: { accountId, policy: null, at } },
    ]);
  });
});
