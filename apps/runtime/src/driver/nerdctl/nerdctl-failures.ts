import { DriverError } from '../driver-error.js';

/** The outcome of a call to nerdctl. */
export interface NerdctlFailure {
  readonly stderr: string;
  /** Whether it was ended because it timed out. */
  readonly timedOut: boolean;
}

const CONTAINERD_AWAY = [
  /cannot access containerd socket/,
  /dial unix .*connection refused/,
  /failed to dial "/,
];
const CLASS_AWAY = [/runtime \\?"[^"]*" binary not installed/];
const IMAGE_AWAY = [
  /failed to resolve reference/,
  /image .* not found/i,
  /no such image/i,
  /image not available/,
  /pull access denied/,
];
const GUEST_DIED = [/exec .* (no such file or directory|permission denied|exec format error)/];

/**
 * The error of the port for a failed call; undefined for an unknown failure. Its message contains no detail of the
 * host; its cause is the output of nerdctl, for the operator's log.
 */
export const toDriverError = ({ stderr, timedOut }: NerdctlFailure): DriverError | undefined => {
  const cause = new Error(`nerdctl: ${stderr.trim() || 'no message'}`);
  const matches = (patterns: readonly RegExp[]): boolean => patterns.some((pattern) => pattern.test(stderr));
  if (timedOut || matches(CONTAINERD_AWAY))
    return new DriverError('host_unavailable', 'The container runtime of this host does not respond.', {
      cause,
    });
  if (matches(IMAGE_AWAY))
    return new DriverError('image_unavailable', 'The image of the agent cannot be pulled.', { cause });
  if (matches(CLASS_AWAY))
    return new DriverError(
      'runtime_class_unavailable',
      'The host of the agent does not have the runtime class that its template names.',
      { cause },
    );
  if (matches(GUEST_DIED))
    return new DriverError('guest_not_started', 'The guest could not be started.', { cause });
  return undefined;
};
