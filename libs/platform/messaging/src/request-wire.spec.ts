import { DomainError, effectOf } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { fromEnvelope, toEnvelope } from './request-wire.js';

const across = (error: unknown): DomainError =>
  fromEnvelope(JSON.parse(JSON.stringify(toEnvelope(error))) as unknown);

describe('an error between services', () => {
  it.each(['none', 'unknown'] as const)('keeps the stated effect %s', (effect) => {
    const error = new DomainError('conflict', 'stale_epoch', 'm', { epoch: 2 }, { effect });
    expect(across(error)).toMatchObject({
      kind: 'conflict',
      code: 'stale_epoch',
      message: 'm',
      context: { epoch: 2 },
      effect,
    });
  });

  it('has no effect if the handler stated none', () => {
    expect(across(new DomainError('conflict', 'x', 'm')).effect).toBeUndefined();
  });

  it.each(['service_unavailable', 'deadline_exceeded'])(
    "%s of a handler's own request says nothing of what the handler did",
    (code) => {
      const inner = new DomainError('unavailable', code, 'm', {}, { effect: 'none' });
      expect(effectOf(across(inner))).toBe('unknown');
    },
  );

  it('ignores an unknown effect', () => {
    const envelope = { kind: 'conflict', code: 'x', message: 'm', context: {}, effect: 'all' };
    expect(fromEnvelope(envelope).effect).toBeUndefined();
  });
});
