import type { RequestCaller } from '@berth/telemetry';

const POLL_EVERY_MS = 1_000;

interface Waiting {
  readonly deliveryId: string;
  /** Absent where no other process waits. */
  readonly caller: RequestCaller | undefined;
}

/**
 * The requests that wait for the outcome of each message. A message may wait for minutes until its turn comes in the
 * guest; if every caller has given up by then, and has reported a failure, it must not be handed over any more.
 */
export class AwaitedDeliveries {
  readonly #waiting = new Set<Waiting>();
  #timer: NodeJS.Timeout | undefined;

  /** `abandon` is called again while a request runs: the guest may receive it before the message itself. */
  constructor(private readonly abandon: (deliveryId: string) => void) {}

  /** Runs `work`, which delivers the message; calls `abandon` while no caller of this message waits. */
  async during<T>(deliveryId: string, caller: RequestCaller | undefined, work: () => Promise<T>): Promise<T> {
    const waiting = { deliveryId, caller };
    this.#waiting.add(waiting);
    this.#timer ??= setInterval(() => this.#check(), POLL_EVERY_MS).unref();
    try {
      return await work();
    } finally {
      this.#waiting.delete(waiting);
      if (this.#waiting.size === 0) {
        clearInterval(this.#timer);
        this.#timer = undefined;
      }
    }
  }

  #check(): void {
    const wanted = new Map<string, boolean>();
    for (const { deliveryId, caller } of this.#waiting)
      wanted.set(deliveryId, wanted.get(deliveryId) === true || caller?.gaveUp !== true);
    for (const [deliveryId, isWanted] of wanted) if (!isWanted) this.abandon(deliveryId);
  }
}
