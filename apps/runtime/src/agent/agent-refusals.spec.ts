import { DomainError } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { DriverError, type DriverErrorCode } from '../driver/driver-error.js';
import { startFailure } from './agent-refusals.js';

const INTERNAL = 'EACCES: permission denied, mkdir /var/lib/berth/secret';

describe('a start that fails', () => {
  it('shows the owner what the driver cannot run', () => {
    const refused = new DriverError('spec_unsupported', 'This host cannot run agents from image sources.');
    expect(startFailure(refused)).toMatchObject({
      kind: 'upstream',
      code: 'agent_start_failed',
      message: 'This host cannot run agents from image sources.',
      cause: refused,
    });
  });

  it.each<DriverErrorCode>([
    'host_unsuitable',
    'host_exhausted',
    'guest_not_started',
    'box_absent',
    'box_stuck',
  ])('does not show the owner the driver’s text for %s, and keeps it for the log', (code) => {
    const failure = startFailure(new DriverError(code, INTERNAL));
    expect(failure).toMatchObject({ kind: 'upstream', code: 'agent_start_failed', context: {} });
    expect(failure.message).not.toContain('berth/secret');
    expect(failure.cause).toMatchObject({ message: INTERNAL });
  });

  it('reports that nothing was started when the host cannot start agents', () => {
    const failure = startFailure(new DriverError('host_unavailable', INTERNAL));
    expect(failure).toMatchObject({ kind: 'unavailable', code: 'host_unavailable', effect: 'none' });
    expect(failure.message).not.toContain('berth/secret');
  });

  it('hides the text of an unexpected error from the owner, and keeps it for the log', () => {
    const failure = startFailure(new Error(INTERNAL));
    expect(failure).toMatchObject({ code: 'agent_start_failed', context: {} });
    expect(failure.message).toBe('The agent could not be started on its host.');
    expect(failure.cause).toMatchObject({ message: INTERNAL });
  });

  it('passes on the guest’s own reason', () => {
    const reason = new DomainError('upstream', 'agent_start_failed', 'The program exited with 1.');
    expect(startFailure(reason)).toBe(reason);
  });
});
