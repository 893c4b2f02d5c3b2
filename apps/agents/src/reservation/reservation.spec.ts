import { decideGiven } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { reservationDecider, type ReservationEvent } from './reservation.js';

const at = '2026-11-21T10:00:00.000Z';
const held: ReservationEvent = { type: 'NameReserved', data: { agentId: 'agt_1', at } };

describe('a reserved name', () => {
  it('goes to the first who asks, and to nobody else', () => {
    expect(
      decideGiven(reservationDecider, [], { type: 'Reserve', agentId: 'agt_1', evicted: null, at }).events,
    ).toEqual([held]);
    expect(
      decideGiven(reservationDecider, [held], { type: 'Reserve', agentId: 'agt_2', evicted: null, at })
        .refusal,
    ).toMatchObject({
      context: { agentId: 'agt_1', since: at },
    });
  });

  it('is already held by its holder', () => {
    expect(
      decideGiven(reservationDecider, [held], { type: 'Reserve', agentId: 'agt_1', evicted: null, at }),
    ).toEqual({ events: [], refusal: undefined });
  });

  it('passes on when its holder is gone, but not when another holder came between', () => {
    const reserve = { type: 'Reserve', agentId: 'agt_2', evicted: 'agt_1', at } as const;
    expect(decideGiven(reservationDecider, [held], reserve).events).toHaveLength(1);
    const other: ReservationEvent = { type: 'NameReserved', data: { agentId: 'agt_3', at } };
    expect(decideGiven(reservationDecider, [held, other], reserve).refusal).toBeDefined();
  });

  it('is freed by its holder only', () => {
    expect(
      decideGiven(reservationDecider, [held], { type: 'Release', agentId: 'agt_1', at }).events,
    ).toHaveLength(1);
    expect(decideGiven(reservationDecider, [held], { type: 'Release', agentId: 'agt_2', at }).events).toEqual(
      [],
    );
  });
});
