import type { RequestDefinition } from '@berth/kernel';
import { requestContext } from '@berth/telemetry';
import { createInbox, type Msg, type Subscription } from '@nats-io/transport-node';
import { processClock, type MonotonicClock } from './monotonic-clock.js';
import type { NatsLink } from './nats-link.js';
import { requestNear } from './near-requests.js';
import { observeRequest } from './observed-request.js';
import { FIRST_SIGN_MS, PendingRequests, type SilenceAllowance } from './pending-requests.js';
import type { NearHandler } from './process-handlers.js';
import { payloadTooLarge, serviceUnavailable, serviceUnreached } from './request-failures.js';
import {
  fillHost,
  fromEnvelope,
  HEADERS,
  requestHeaders,
  responderOf,
  subscribedSubject,
  wasNotBegun,
  type ReplyPacket,
  type RequestPacket,
  type Sending,
  type Waiting,
} from './request-wire.js';

export interface RequestOptions {
  /** Fills `{host}` or `{from}` in the subject. */
  readonly host?: string;
  /** Overrides the definition's deadline, in milliseconds. */
  readonly deadlineMs?: number;
  /** Shared by the requests of one operation. If it is used up, the request is not sent: see `neverReached`. */
  readonly silence?: SilenceAllowance;
  /** Sends the request over the broker also to a handler of this process, to learn whether the broker delivers. */
  readonly overBroker?: boolean;
}

// Maximum size of a packet's envelope and headers.
const HEADROOM_BYTES = 2_048;
/**
 * A handler may begin a request until `FIRST_SIGN_MS` after it was sent without asking the caller, and until 1 s after
 * asking: the caller must not report a failure earlier.
 */
const RECONNECT_GRACE_MS = FIRST_SIGN_MS + 50;

/**
 * Sends requests to other services: to a handler of this process directly, if the link has `handlers`, otherwise over the
 * broker, in the packet format of Nest's NATS transport and with one reply subscription for all of them.
 */
export class Requester {
  readonly #inbox: string;
  readonly #pending = new PendingRequests();
  readonly #gathering = new Map<string, (reply: ReplyPacket) => void>();
  #subscription: Subscription | undefined;
  #grace: NodeJS.Timeout | undefined;
  #sequence = 0;

  constructor(
    private readonly link: NatsLink,
    private readonly clock: MonotonicClock = processClock,
  ) {
    this.#inbox = createInbox(link.inboxPrefix);
    link.onDisconnect(() => this.#failUnlessBackSoon());
    link.onReconnect(() => {
      clearTimeout(this.#grace);
      this.#pending.repeatAll();
    });
  }

  /**
   * Returns the handler's response or throws its DomainError. Throws ('unavailable', 'service_unavailable') without a
   * subscriber, while the link is down, or when the handler's process died, with effect `none` if no handler started
   * the request; ('timeout', 'deadline_exceeded') without a reply within the deadline; ('too_large',
   * 'payload_too_large') for a request larger than the broker accepts. The definition's `whenLost` determines what
   * happens to a request that seems lost.
   */
  async request<Req, Res>(
    definition: RequestDefinition<Req, Res>,
    payload: Req,
    options: RequestOptions = {},
  ): Promise<Res> {
    const near =
      options.overBroker === true ? undefined : this.#nearHandler(definition.subject, options.host);
    return observeRequest(definition.subject, near === undefined ? 'nats' : 'process', async () => {
      const subject = fillHost(definition.subject, options.host);
      const deadlineMs = options.deadlineMs ?? definition.deadlineMs;
      const caller = definition.onlyWhileAwaited ? requestContext.current()?.caller : undefined;
      const { silence: allowance } = options;
      const id = near === undefined ? this.#nextId(definition.subject, options.host) : '';
      const packet = this.#encode({ pattern: subject, data: payload, id });
      if (caller?.gaveUp === true) throw serviceUnreached();
      if (allowance !== undefined && allowance.leftMs < FIRST_SIGN_MS) throw serviceUnreached();
      if (near !== undefined) {
        if (!this.link.connected) throw serviceUnreached();
        return (await requestNear(near, { subject, packet, deadlineMs, caller })) as Res;
      }
      const data = Buffer.from(packet);
      const send = (): void =>
        this.#publish(subject, data, id, deadlineMs, this.#waiting(id), () =>
          this.#pending.failNotBegun(id, serviceUnreached),
        );
      const rules = { whenLost: definition.whenLost, allowance, caller };
      const response = this.#pending.add(id, deadlineMs, rules, send);
      send();
      return (await response) as Res;
    });
  }

  /**
   * Sends the request to all subscribers and returns the replies received within `waitMs`, without errors. For handlers
   * declared with `broadcast`. Returns `[]` without subscribers. Throws ('unavailable', 'service_unavailable') while
   * the link is down.
   */
  requestAll<Req, Res>(
    definition: RequestDefinition<Req, Res>,
    payload: Req,
    options: { readonly waitMs: number },
  ): Promise<readonly Res[]> {
    return observeRequest(definition.subject, 'nats', async () => {
      const id = this.#nextId(definition.subject);
      const data = Buffer.from(this.#encode({ pattern: definition.subject, data: payload, id }));
      const responses: Res[] = [];
      await new Promise<void>((resolve, reject) => {
        const timer = setTimeout(resolve, options.waitMs);
        this.#gathering.set(id, (reply) => {
          if (reply.isDisposed === true && reply.err === undefined) responses.push(reply.response as Res);
          if (reply.id === undefined) {
            clearTimeout(timer);
            resolve();
          }
        });
        const waiting = { waitsMs: options.waitMs, waitedMs: 0 };
        this.#publish(definition.subject, data, id, options.waitMs, waiting, () => {
          clearTimeout(timer);
          reject(serviceUnreached());
        });
      }).finally(() => this.#gathering.delete(id));
      return responses;
    });
  }

  #nearHandler(template: string, host: string | undefined): NearHandler | undefined {
    const { handlers, names } = this.link;
    return handlers?.find(names.subject(subscribedSubject(template, host)));
  }

  // The reply subject contains the responder's name: the broker lets only that service publish there.
  #nextId(template: string, host?: string): string {
    this.#sequence = (this.#sequence + 1) % Number.MAX_SAFE_INTEGER;
    return `${responderOf(template, host)}.${this.#sequence.toString(36)}`;
  }

  #encode(packet: RequestPacket): string {
    const text = JSON.stringify(packet);
    const { maxBytes } = this.link;
    if (maxBytes !== undefined && Buffer.byteLength(text) + HEADROOM_BYTES > maxBytes) {
      throw payloadTooLarge(maxBytes - HEADROOM_BYTES);
    }
    return text;
  }

  #waiting(id: string): Pick<Sending, 'waitsMs' | 'waitedMs'> {
    return { waitsMs: this.#pending.waitsMs(id), waitedMs: this.#pending.waitedMs(id) };
  }

  // The client buffers requests while it is disconnected and would send them on reconnect, after their callers got an
  // error.
  #publish(
    subject: string,
    data: Buffer,
    id: string,
    deadlineMs: number,
    waiting: Pick<Sending, 'waitsMs' | 'waitedMs'>,
    onUnsent: () => void,
  ): void {
    const { connection, outgoing } = this.link;
    const headers = requestHeaders(deadlineMs, {
      clock: this.clock.id,
      sentAt: this.clock.now(),
      ...waiting,
    });
    outgoing.add(() => {
      try {
        if (!this.link.connected) return onUnsent();
        this.#subscription ??= connection.subscribe(`${this.#inbox}.*.*`, {
          callback: (error, message) => (error === null ? this.#onReply(message) : undefined),
        });
        connection.publish(this.link.names.subject(subject), data, {
          reply: `${this.#inbox}.${id}`,
          headers,
        });
      } catch {
        onUnsent();
      }
    });
  }

  #onReply(message: Msg): void {
    const id = message.subject.slice(this.#inbox.length + 1);
    if (message.data.length === 0) return this.#onSign(message, id);
    const reply = parseReply(message);
    const gather = this.#gathering.get(id);
    if (gather !== undefined) gather({ ...reply, id });
    else if (wasNotBegun(reply.err)) this.#pending.failNotBegun(id, () => fromEnvelope(reply.err));
    else if (reply.err !== undefined && reply.err !== null)
      this.#pending.failAttempt(id, fromEnvelope(reply.err));
    else if (reply.isDisposed === true) this.#pending.settle(id, reply.response);
    else this.#pending.heard(id);
  }

  /** Handles an empty message: no subscriber, a heartbeat, or the question whether the caller still waits. */
  #onSign(message: Msg, id: string): void {
    if (message.headers?.code === 503) {
      this.#gathering.get(id)?.({});
      this.#pending.failNotBegun(id, serviceUnreached);
    } else if (message.headers?.has(HEADERS.stillWaiting) === true) {
      this.#sendWaiting(
        message,
        this.#gathering.has(id) ? Number.MAX_SAFE_INTEGER : this.#pending.waitsMs(id),
      );
    } else if (message.headers?.has(HEADERS.heartbeat) === true) {
      this.#pending.heard(id);
      if (!this.#gathering.has(id) && this.#pending.waitsMs(id) === 0) this.#sendWaiting(message, 0);
    }
  }

  #sendWaiting(message: Msg, waitsMs: number): void {
    const waiting: Waiting = { clock: this.clock.id, now: this.clock.now(), waitsMs };
    try {
      message.respond(JSON.stringify(waiting));
    } catch {
      // The link is closing; the handler will notice the silence.
    }
  }

  // Replies are lost with the link unless it is back before their handlers finish.
  #failUnlessBackSoon(): void {
    clearTimeout(this.#grace);
    this.#grace = setTimeout(() => this.#pending.failAll(serviceUnavailable), RECONNECT_GRACE_MS);
    this.#grace.unref();
  }
}

const parseReply = (message: Msg): ReplyPacket => {
  try {
    const reply: unknown = message.json();
    if (typeof reply === 'object' && reply !== null) return reply;
  } catch {
    // Falls through to the error for an unreadable reply.
  }
  return { err: 'unreadable', isDisposed: true };
};
