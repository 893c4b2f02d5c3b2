/** Thrown by work that must not be restarted before `pauseMs` milliseconds have passed. */
export class RestartLater extends Error {
  override readonly name: string = 'RestartLater';

  constructor(
    message: string,
    readonly pauseMs: number,
  ) {
    super(message);
  }
}

/**
 * Thrown by work that cannot begin yet because something it depends on is still starting. The supervisor restarts it
 * like failed work, but reports it only after 15 s.
 */
export class NotReady extends Error {
  override readonly name: string = 'NotReady';
}
