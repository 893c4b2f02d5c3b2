import { detach } from '@berth/kernel';
import { RestartLater } from '@berth/supervision';
import type { JetStreamClient } from '@nats-io/jetstream';
import type { MsgHdrs } from '@nats-io/transport-node';
import { DUPLICATE_WINDOW_MS, type StreamEnd } from './event-stream.js';
import type { LogMark } from './log-mark.js';

/**
 * The stream does not end where the relay expected: a new session must read its end. It waits for the end of the
 * broker's deduplication window, within which the broker would drop events that are published again.
 */
export class StreamMoved extends RestartLater {
  override readonly name = 'StreamMoved';

  constructor(message: string) {
    super(message, DUPLICATE_WINDOW_MS + 200);
  }
}

export interface Publication {
  readonly id: string;
  readonly subject: string;
  readonly data: string;
  readonly headers: MsgHdrs;
  readonly position: bigint;
}

const MAX_IN_FLIGHT = 64;
const ACK_WITHIN_MS = 4_000;

/**
 * Publishes in order, several at a time, each with the sequence it must follow: whatever happens in between (a lost
 * acknowledgement, another relay, a lost tail), no event is stored twice or out of order. Ends at the first failure.
 */
export class RelayPublisher {
  #nextAfter: number;
  #acknowledged: LogMark | null;
  #failure: Error | undefined;
  readonly #inFlight: Promise<void>[] = [];

  constructor(
    private readonly client: JetStreamClient,
    end: StreamEnd,
    private readonly onFailure: (error: Error) => void,
  ) {
    this.#nextAfter = end.sequence;
    this.#acknowledged = end.last;
  }

  /** The stream's last sequence once everything in flight is stored. */
  get sequence(): number {
    return this.#nextAfter;
  }

  /** The last event that the broker acknowledged; all before it are acknowledged too. */
  get acknowledged(): LogMark | null {
    return this.#acknowledged;
  }

  get inFlight(): number {
    return this.#inFlight.length;
  }

  /** Resolves as soon as there is room; throws the error of an earlier publication. */
  async publish(publication: Publication): Promise<void> {
    while (this.#inFlight.length >= MAX_IN_FLIGHT) await this.#inFlight[0];
    if (this.#failure !== undefined) throw this.#failure;
    const after = this.#nextAfter++;
    const stored = this.#store(publication, after);
    this.#inFlight.push(stored);
    detach(stored.then(() => this.#inFlight.shift()));
  }

  /** Waits for all publications in flight; throws when one failed. */
  async settle(): Promise<void> {
    await Promise.all(this.#inFlight);
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #store(publication: Publication, after: number): Promise<void> {
    const previous = this.#inFlight.at(-1);
    try {
      const ack = await this.client.publish(publication.subject, publication.data, {
        msgID: publication.id,
        headers: publication.headers,
        expect: { lastSequence: after },
        timeout: ACK_WITHIN_MS,
      });
      await previous;
      if (ack.duplicate || ack.seq !== after + 1) throw new StreamMoved('The broker already has the event.');
      if (this.#failure === undefined)
        this.#acknowledged = { position: publication.position, eventId: publication.id };
    } catch (error) {
      if (this.#failure !== undefined) return;
      this.#failure = error instanceof Error ? error : new Error('Publishing failed.', { cause: error });
      this.onFailure(this.#failure);
    }
  }
}
