import { headers as newHeaders, type Msg } from '@nats-io/transport-node';
import type { AwaitedRequests } from './awaited-requests.js';
import type { NatsLink } from './nats-link.js';
import { HEADERS, sendingOf } from './request-wire.js';
import type { Heartbeat } from './running-handlers.js';

/** Sends the heartbeats of one request to its caller, and learns from the replies when the caller no longer waits. */
export class CallerHeartbeat implements Heartbeat {
  #watch: { readonly reply: string; readonly stop: () => void } | undefined;

  constructor(
    private readonly link: NatsLink,
    private readonly awaited: AwaitedRequests,
    private readonly message: Msg,
    readonly age: number,
  ) {}

  get waitedMs(): number {
    return this.age + (sendingOf(this.message.headers)?.waitedMs ?? 0);
  }

  send(onGaveUp: () => void): boolean {
    const { link, message } = this;
    if (!link.connected || message.reply === undefined) return false;
    this.#watch ??= this.awaited.watch(message.reply, onGaveUp);
    const headers = newHeaders();
    headers.set(HEADERS.heartbeat, '1');
    try {
      link.connection.publish(message.reply, undefined, { reply: this.#watch.reply, headers });
      return true;
    } catch {
      return false;
    }
  }

  stop(): void {
    this.#watch?.stop();
  }
}
