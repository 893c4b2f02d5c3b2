import { join } from 'node:path';
import { decideGiven } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import type { EndUserEvent } from './end-user.js';
import { endUserDecider } from './end-user.decider.js';
import { endUserCodec, toEndUserContractEvent } from './end-user.events.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), endUserCodec, {
  EndUserCreated: true,
  EndUserUpdated: true,
  EndUserSuspended: true,
  EndUserResumed: true,
  EndUserPolicySet: true,
  EndUserPolicyRemoved: true,
  EndUserDeleted: true,
  EndUserErased: true,
});

const about = { endUserId: 'eus_1', accountId: 'acc_1' };
const at = '2026-11-23T08:00:00.000Z';
const now = Date.parse(at);
const put = { type: 'Put', ...about, externalId: 'sealed-id', given: {}, now } as const;
const [created] = decideGiven(endUserDecider, [], { ...put, given: { displayName: 'sealed-name' } }).events;
const history = (
  ...types: ('EndUserSuspended' | 'EndUserResumed' | 'EndUserDeleted' | 'EndUserErased')[]
): EndUserEvent[] => [
  ...(created === undefined ? [] : [created]),
  ...types.map((type) => ({ type, ...about, at })),
];
const given = (events: EndUserEvent[], type: 'Suspend' | 'Resume' | 'Delete' | 'RecordErasure') =>
  decideGiven(endUserDecider, events, { type, ...about, now });

describe('an end user', () => {
  it('is created by the first put, which leaves empty what is not given', () => {
    expect(created).toEqual({
      type: 'EndUserCreated',
      ...about,
      externalId: 'sealed-id',
      displayName: 'sealed-name',
      metadata: null,
      tags: null,
      createdAt: at,
    });
  });

  it('is updated by a later put, with only the fields that are given', () => {
    const { events } = decideGiven(endUserDecider, history(), { ...put, given: { tags: null } });
    expect(events).toEqual([{ type: 'EndUserUpdated', ...about, tags: null, updatedAt: at }]);
    const folded = [...history(), ...events].reduce(endUserDecider.evolve, endUserDecider.initial);
    expect(folded).toMatchObject({
      sealed: { externalId: 'sealed-id', displayName: 'sealed-name', tags: null },
    });
  });

  it('is created by the first use, which changes one that exists in nothing', () => {
    const ensure = { type: 'Ensure', ...about, externalId: 'sealed-id', now } as const;
    expect(decideGiven(endUserDecider, [], ensure).events).toMatchObject([{ type: 'EndUserCreated' }]);
    expect(decideGiven(endUserDecider, history(), ensure).events).toEqual([]);
  });

  it('is suspended and resumed once, however often that is asked for', () => {
    expect(given(history(), 'Suspend').events).toMatchObject([{ type: 'EndUserSuspended', at }]);
    expect(given(history('EndUserSuspended'), 'Suspend').events).toEqual([]);
    expect(given(history('EndUserSuspended'), 'Resume').events).toMatchObject([{ type: 'EndUserResumed' }]);
    expect(given(history('EndUserSuspended', 'EndUserResumed'), 'Resume').events).toEqual([]);
  });

  it('has the policy that was set last, as a whole, until its removal', () => {
    const set = (policy: object, events: EndUserEvent[]) =>
      decideGiven(endUserDecider, events, { type: 'SetPolicy', ...about, policy, now }).events;
    const remove = (events: EndUserEvent[]) =>
      decideGiven(endUserDecider, events, { type: 'RemovePolicy', ...about, now }).events;
    const policyAfter = (events: readonly EndUserEvent[]) => {
      const state = events.reduce(endUserDecider.evolve, endUserDecider.initial);
      return state.kind === 'live' ? state.policy : undefined;
    };
    const first = [...history(), ...set({ mem_mb: 512, wakes_per_hour: 3 }, history())];
    expect(policyAfter(first)).toEqual({ mem_mb: 512, wakes_per_hour: 3 });
    const second = [...first, ...set({ vcpus: 2 }, first)];
    expect(policyAfter(second)).toEqual({ vcpus: 2 });
    const removed = [...second, ...remove(second)];
    expect(policyAfter(removed)).toBeNull();
    expect(remove(removed)).toEqual([]);
    expect(decideGiven(endUserDecider, [], { type: 'RemovePolicy', ...about, now }).refusal).toMatchObject({
      code: 'end_user_not_found',
    });
  });

  it('does not exist for any command after its deletion', () => {
    const gone = history('EndUserDeleted');
    for (const refused of [
      given(gone, 'Suspend'),
      given(gone, 'Resume'),
      decideGiven(endUserDecider, gone, put),
    ])
      expect(refused).toMatchObject({ events: [], refusal: { code: 'end_user_not_found' } });
    expect(given(gone, 'Delete')).toMatchObject({ events: [], refusal: undefined });
    expect(given([], 'Delete').refusal).toMatchObject({ code: 'end_user_not_found' });
  });

  it('is recorded as erased once', () => {
    expect(given(history('EndUserDeleted'), 'RecordErasure').events).toMatchObject([
      { type: 'EndUserErased' },
    ]);
    expect(given(history('EndUserDeleted', 'EndUserErased'), 'RecordErasure').events).toEqual([]);
    expect(given(history(), 'RecordErasure').events).toEqual([]);
  });
});

describe('the contract events of an end user', () => {
  it('contain nothing of its fields, not even sealed', () => {
    const metadata = {
      correlationId: 'r',
      causationId: 'c',
      accountId: 'acc_1',
      actor: { kind: 'key', id: 'key_1' },
    } as const;
    const read = {
      id: '1',
      stream: 'endUser-eus_1',
      revision: 0n,
      position: 0n,
      createdAt: new Date(0),
      metadata,
    };
    const published = history('EndUserSuspended', 'EndUserErased').map((event) =>
      toEndUserContractEvent({ ...read, ...endUserCodec.toStored(event) }),
    );
    expect(published).toEqual([
      { subject: 'evt.end-users.created.v1.acc_1.eus_1', payload: { ...about, at } },
      { subject: 'evt.end-users.suspended.v1.acc_1.eus_1', payload: { ...about, at } },
      null,
    ]);
  });
});
