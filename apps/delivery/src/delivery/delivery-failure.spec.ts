import { saysHandedOver } from '@berth/contracts/delivery';
import { DomainError } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { loggedCode } from './delivery-failure.js';
import { toCallerError } from './sending.js';
import { withEarlierAttempt } from './earlier-message.js';

const timeOut = (effect: 'none' | 'unknown'): DomainError => {
  const reported = toCallerError(new DomainError('timeout', 'agent_timeout', 'Too late.', {}, { effect }));
  if (!(reported instanceof DomainError)) throw new Error('The error is not one for callers.');
  return reported;
};

describe('the failure of a message in the log', () => {
  it('says that the program got the message if the program did not answer in time', () => {
    expect(loggedCode(timeOut('unknown'))).toBe('agent_timeout');
    expect(saysHandedOver('agent_timeout')).toBe(true);
  });

  it('does not say so if the message timed out before its turn, nor of its repetition', () => {
    expect(loggedCode(timeOut('none'))).toBe('agent_unavailable');
    expect(loggedCode(withEarlierAttempt(timeOut('none')) as DomainError)).toBe('agent_unavailable');
    expect(saysHandedOver('agent_unavailable')).toBe(false);
  });

  it('has the code of every other error', () => {
    for (const effect of ['none', 'unknown'] as const)
      expect(loggedCode(new DomainError('conflict', 'agent_stopped', 'Stopped.', {}, { effect }))).toBe(
        'agent_stopped',
      );
  });
});
