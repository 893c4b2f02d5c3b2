import { DomainError } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { afterFailure, judgeFailure } from './sending.js';

const error = (kind: ConstructorParameters<typeof DomainError>[0], code: string): DomainError =>
  new DomainError(kind, code, code);

describe('a failed dispatch request', () => {
  it.each([
    [error('conflict', 'stale_epoch'), 'elsewhere'],
    [error('not_found', 'agent_not_on_host'), 'elsewhere'],
    [error('invalid', 'invalid_cwd'), 'refused'],
    [error('invalid', 'invalid_command'), 'refused'],
    [error('unavailable', 'guest_command_unavailable'), 'refused'],
  ])('proves that the command did not start: %s', (failed, expected) => {
    expect(judgeFailure(failed)).toBe(expected);
    expect(afterFailure('notStarted', judgeFailure(failed))).toBe('notStarted');
  });

  it.each([
    error('unavailable', 'service_unavailable'),
    error('unavailable', 'guest_unreachable'),
    error('unavailable', 'execution_outcome_unknown'),
    error('timeout', 'deadline_exceeded'),
    error('internal', 'internal_error'),
    error('conflict', 'something_new'),
    new Error('anything'),
    undefined,
  ])('leaves open whether the command started: %s', (failed) => {
    expect(judgeFailure(failed)).toBe('unknown');
    expect(afterFailure('notStarted', 'unknown')).toBe('maybeStarted');
  });

  it('never disproves that an earlier one may have started the command', () => {
    for (const start of ['maybeStarted', 'started'] as const) {
      for (const failure of ['elsewhere', 'refused', 'unreached', 'unknown'] as const)
        expect(afterFailure(start, failure)).toBe(start);
    }
  });
});
