import { join } from 'node:path';
import { decideGiven } from '@berth/kernel';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { refusalDecider } from './refusal.js';
import { refusalCodec } from './refusal.events.js';

describeGoldenEvents(join(import.meta.dirname, '__events__'), refusalCodec, { AccessRefused: true });

describe('a refusal', () => {
  const command = { route: 'POST /api/agents', code: 'missing_scope', at: '2026-11-23T08:00:00.000Z' };

  it('is recorded once, however often it is reported', () => {
    const { events } = decideGiven(refusalDecider, [], command);
    expect(events).toEqual([{ type: 'AccessRefused', ...command }]);
    expect(decideGiven(refusalDecider, events, { ...command, code: 'token_scope' }).events).toEqual([]);
  });
});
