import { DomainError, type Effect, type ErrorKind } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { toCallerError } from './sending.js';

const failed = (kind: ErrorKind, code: string, effect?: Effect): DomainError =>
  new DomainError(kind, code, 'No.', { limitBytes: 1 }, effect === undefined ? {} : { effect });

describe('the failure of a delivery', () => {
  it.each<[ErrorKind, string]>([
    ['upstream', 'agent_error'],
    ['unsupported', 'chat_unsupported'],
    ['too_large', 'payload_too_large'],
  ])('is passed on unchanged when it concerns the message itself: %s %s', (kind, code) => {
    const error = failed(kind, code);
    expect(toCallerError(error)).toBe(error);
  });

  it.each<[ErrorKind, string, string]>([
    ['unavailable', 'service_unavailable', 'agent_unavailable'],
    ['unavailable', 'agent_unavailable', 'agent_unavailable'],
    ['timeout', 'agent_timeout', 'agent_timeout'],
  ])('reports whether the agent may have the message: %s %s', (kind, code, outcome) => {
    for (const effect of ['none', 'unknown'] as const)
      expect(toCallerError(failed(kind, code, effect))).toMatchObject({ kind, code: outcome, effect });
    expect(toCallerError(failed(kind, code))).toMatchObject({ kind, code: outcome, effect: 'unknown' });
  });
});
