/**
 * Why a driver could not carry out a call.
 *
 * - `host_unsuitable`: this host lacks what the driver needs.
 * - `host_unavailable`: a program that the driver needs on this host does not respond right now.
 * - `host_exhausted`: this host has no room for another agent.
 * - `spec_unsupported`: the driver cannot run such a box here.
 * - `image_unavailable`: the image of the box cannot be pulled.
 * - `runtime_class_unavailable`: this host does not have the runtime class of the box.
 * - `guest_not_started`: the guest exited at once.
 * - `box_absent`: the agent has no box here.
 * - `box_stuck`: the processes did not stop, continue or end within the driver's time limit.
 */
export type DriverErrorCode =
  | 'host_unsuitable'
  | 'host_unavailable'
  | 'host_exhausted'
  | 'spec_unsupported'
  | 'image_unavailable'
  | 'runtime_class_unavailable'
  | 'guest_not_started'
  | 'box_absent'
  | 'box_stuck';

/** An expected failure of a driver. The message names no path and no internal detail; `cause` is for the log. */
export class DriverError extends Error {
  override readonly name = 'DriverError';

  constructor(
    readonly code: DriverErrorCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Whether a driver failed because a program that it needs does not respond right now. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof DriverError && error.code === 'host_unavailable';
