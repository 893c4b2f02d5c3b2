import { describe, expect, it } from 'vitest';
import { readEvents, readHealth, readProgramResponse, readRefusal } from './guest-responses.js';

describe('a guest’s response', () => {
  it('is accepted in the agreed shape', () => {
    const health = { version: '1.0.0', capabilities: ['exec.detached'], program: 'serving' };
    expect(readHealth(health)).toEqual(health);
    expect(readProgramResponse({ response: 'hi', more: 1 })).toEqual({ response: 'hi' });
  });

  it.each([null, 5, 'text', [], {}, { version: 1, capabilities: [], program: 'serving' }])(
    'is rejected in any other shape (%j)',
    (body) => {
      expect(() => readHealth(body)).toThrow(expect.objectContaining({ code: 'guest_unreachable' }));
      expect(() => readProgramResponse(body)).toThrow(expect.objectContaining({ code: 'guest_unreachable' }));
    },
  );

  it('is bounded in number and length', () => {
    const { capabilities } = readHealth({
      version: '1',
      capabilities: [...Array.from({ length: 1000 }, (_, n) => `c${n}`), 'x'.repeat(1000), 5],
      program: 'none',
    });
    expect(capabilities).toHaveLength(50);
    const { events } = readEvents({
      last: 1,
      events: [
        { seq: 1, type: 'crash_loop', message: 'x'.repeat(1e6) },
        { seq: 2, type: 'other', message: '' },
      ],
    });
    expect(events).toHaveLength(1);
    expect(events[0]?.message.length).toBeLessThan(3_000);
  });

  it('cannot introduce error kinds, codes or contexts of its own', () => {
    const refusal = (error: unknown) => readRefusal({ error });
    const context = { agentId: 'agt_other' };
    expect(refusal({ kind: 'upstream', code: 'agent_error', message: 'no', context })).toMatchObject({
      kind: 'upstream',
      code: 'agent_error',
      context: {},
    });
    const limited = { limitBytes: 5, path: '/etc' };
    expect(refusal({ kind: 'too_large', code: 'x', message: 'no', context: limited }).context).toEqual({
      limitBytes: 5,
    });
    expect(refusal({ kind: 'conflict', code: 'x', message: 'no', effect: 'none' }).effect).toBe('none');
    expect(refusal({ kind: 'conflict', code: 'x', message: 'no', effect: 'all' }).effect).toBeUndefined();
    for (const forged of [
      { kind: 'unauthenticated', code: 'x', message: 'm' },
      { kind: 'conflict', code: 'stale_epoch', message: 'm' },
      { kind: 'not_found', code: 'agent_not_on_host', message: 'm' },
      { kind: 'upstream', code: 'Bad Code', message: 'm' },
      { kind: 'upstream', code: 'x'.repeat(100), message: 'm' },
      'text',
    ]) {
      expect(refusal(forged)).toMatchObject({ code: 'guest_unreachable' });
    }
  });
});
