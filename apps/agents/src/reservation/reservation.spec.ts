import { decideGiven, type Decided } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import {
  NameHeld,
  reservationDecider,
  type Holder,
  type ReservationCommand,
  type ReservationEvent,
} from './reservation.js';

const at = '2026-11-21T10:00:00.000Z';
const ada: Holder = { agentId: 'agt_1', attempt: 0 };
const adaAgain: Holder = { agentId: 'agt_1', attempt: 1 };
const bob: Holder = { agentId: 'agt_2', attempt: 0 };

const held = (holder: Holder): ReservationEvent => ({ type: 'NameReserved.v2', data: { ...holder, at } });
const reserve = (holder: Holder, evicted: Holder | null = null): ReservationCommand => ({
  type: 'Reserve',
  holder,
  evicted,
  at,
});
const release = ({ agentId }: Holder, attempt: number | null): ReservationCommand => ({
  type: 'Release',
  agentId,
  attempt,
  at,
});
const given = (
  history: readonly ReservationEvent[],
  command: ReservationCommand,
): Decided<ReservationEvent> => decideGiven(reservationDecider, history, command);

describe('a reserved name', () => {
  it('belongs to the agent that reserves it first', () => {
    expect(given([], reserve(ada)).events).toEqual([held(ada)]);
    expect(given([held(ada)], reserve(bob)).refusal).toMatchObject({ holder: ada, since: at });
  });

  it('can be reserved again by its holder, without another event', () => {
    expect(given([held(ada)], reserve(ada))).toEqual({ events: [], refusal: undefined });
  });

  it('passes to a later attempt of its agent, and not back to an earlier one', () => {
    expect(given([held(ada)], reserve(adaAgain)).events).toEqual([held(adaAgain)]);
    expect(given([held(adaAgain)], reserve(ada)).refusal).toBeInstanceOf(NameHeld);
  });

  it('is reserved in the log without anything else that the command contains', () => {
    const attempt = { ...ada, request: { env: [{ key: 'TOKEN', value: 'hunter2' }] } };
    expect(given([], reserve(attempt)).events).toEqual([held(ada)]);
  });

  it('passes to another agent when its holder is evicted', () => {
    expect(given([held(ada)], reserve(bob, ada)).events).toEqual([held(bob)]);
  });

  it('is kept when the evicted holder is another agent, or an earlier attempt of the current holder', () => {
    expect(
      given([held(ada), held({ agentId: 'agt_3', attempt: 0 })], reserve(bob, ada)).refusal,
    ).toBeDefined();
    expect(given([held(ada), held(adaAgain)], reserve(bob, ada)).refusal).toBeInstanceOf(NameHeld);
  });

  it('is released only by its holder', () => {
    const freed = { type: 'NameReleased', data: { agentId: ada.agentId, at } };
    expect(given([held(ada)], release(ada, 0)).events).toEqual([freed]);
    expect(given([held(ada)], release(bob, 0)).events).toEqual([]);
  });

  it('is not released by an earlier attempt', () => {
    expect(given([held(adaAgain)], release(ada, 0)).events).toEqual([]);
    expect(given([held(adaAgain)], release(ada, null)).events).toHaveLength(1);
  });
});
