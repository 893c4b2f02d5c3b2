import type { RequestCaller } from '@berth/telemetry';

/** A handler in this process, called without the broker. */
export interface NearHandler {
  /** False while its service has no connection to the broker: it would not receive requests over the broker, either. */
  readonly isReachable: boolean;
  /**
   * Handles a request sent to `subject`. `packet` is JSON, and so is the reply's packet, to which this
   * always resolves.
   */
  handle(subject: string, packet: string, sender: Pick<RequestCaller, 'gaveUp'>): Promise<string>;
}

/**
 * The handlers of all services in one process, by the subjects that they subscribe to on the broker. A process with
 * several services gives one to their links (`NatsLinkOptions.handlers`): then requests between them do not pass the
 * broker.
 */
export class ProcessHandlers {
  readonly #handlers = new Map<string, NearHandler[]>();

  /** Returns a function that removes the handler again. */
  add(subject: string, handler: NearHandler): () => void {
    this.#handlers.set(subject, [...(this.#handlers.get(subject) ?? []), handler]);
    return () => {
      const others = (this.#handlers.get(subject) ?? []).filter((other) => other !== handler);
      if (others.length === 0) this.#handlers.delete(subject);
      else this.#handlers.set(subject, others);
    };
  }

  /** A handler of this process that would receive a request over the broker, too. */
  find(subject: string): NearHandler | undefined {
    return this.#handlers.get(subject)?.find(({ isReachable }) => isReachable);
  }
}
