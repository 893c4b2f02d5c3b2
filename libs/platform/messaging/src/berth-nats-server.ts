import { setTimeout as sleep } from 'node:timers/promises';
import { DomainError } from '@berth/kernel';
import { metrics, requestContext, type Logger } from '@berth/telemetry';
import type { Msg, Subscription } from '@nats-io/transport-node';
import { ServerNats, type MessageHandler } from '@nestjs/microservices';
import { AwaitedRequests } from './awaited-requests.js';
import { CallerHeartbeat } from './caller-heartbeat.js';
import { commandIdOf, encodeReply, FORGED, handleRequest } from './handled-request.js';
import type { MonotonicClock } from './monotonic-clock.js';
import type { NatsLink } from './nats-link.js';
import { NearHandlers } from './near-handlers.js';
import { noLongerAwaited } from './request-failures.js';
import {
  HEADERS,
  isFromItsHost,
  requestIdOf,
  subscribedSubject,
  toEnvelope,
  traceOf,
  type ReplyPacket,
  type RequestPacket,
} from './request-wire.js';
import { RunningHandlers, type Running } from './running-handlers.js';

export interface BerthNatsServerOptions {
  readonly link: NatsLink;
  /** The queue group: instances of one service share the work. */
  readonly queue: string;
  /** Fills `{host}` in subjects. */
  readonly host?: string;
  readonly log: Logger;
  /** How long `close` waits for running handlers, in milliseconds; default 5,000. */
  readonly drainMs?: number;
  /** Default: the process's own clock. */
  readonly clock?: MonotonicClock;
}

const FLUSH_WITHIN_MS = 2_000;

const late = metrics.counter(
  'berth_requests_too_late',
  'Requests that were not started because their caller no longer waited, by subject.',
  ['subject'],
);

/**
 * Nest's NATS transport on the service's own link: sends heartbeats while a handler runs, errors in one envelope, and a
 * reply to every request that has a reply subject; `close` lets handlers finish.
 */
export class BerthNatsServer extends ServerNats {
  readonly #options: BerthNatsServerOptions;
  readonly #running = new RunningHandlers();
  readonly #templates = new Map<string, string>();
  readonly #awaited: AwaitedRequests;
  readonly #near: NearHandlers;
  #open: Subscription[] = [];

  constructor(options: BerthNatsServerOptions) {
    super({ queue: options.queue });
    this.#options = options;
    this.#awaited = new AwaitedRequests(options.link, options.clock);
    this.#near = new NearHandlers(options.link, this.#running, options.log);
  }

  override addHandler(
    pattern: unknown,
    handler: MessageHandler,
    isEventHandler = false,
    extras: Record<string, unknown> = {},
  ): void {
    if (typeof pattern !== 'string') throw new Error('Handlers are declared with @HandleRequest.');
    const subject = subscribedSubject(pattern, this.#options.host);
    if (this.messageHandlers.has(subject)) throw new Error(`There are two handlers for ${subject}.`);
    this.#templates.set(subject, pattern);
    super.addHandler(subject, handler, isEventHandler, extras);
  }

  override async listen(callback: (error?: unknown) => void): Promise<void> {
    try {
      this.#awaited.open();
      for (const [subject, handler] of this.messageHandlers)
        this.#open.push(this.#subscribe(subject, handler));
      // While the broker is down, the client subscribes on reconnect.
      await Promise.race([
        this.#options.link.connection.flush().catch(() => undefined),
        pause(FLUSH_WITHIN_MS),
      ]);
      this.#offerNear();
      callback();
    } catch (error) {
      callback(error);
    }
  }

  /** Stops accepting requests, and resolves when the running handlers have finished, after `withinMs` at the latest. */
  async drain(withinMs: number): Promise<void> {
    const { link, log } = this.#options;
    const open = this.#open;
    this.#open = [];
    this.#near.withdraw();
    const drained = Promise.all(open.map((subscription) => subscription.drain().catch(() => undefined)));
    await Promise.race([drained, pause(link.connected ? FLUSH_WITHIN_MS : 0)]);
    if (!(await this.#running.done(withinMs)))
      log.warn({ running: this.#running.size }, 'Stopping before all handlers have finished.');
  }

  /**
   * Stops accepting requests and lets running handlers finish (for a bounded time). The link's owner closes the link.
   */
  override async close(): Promise<void> {
    const { link, drainMs = 5_000 } = this.#options;
    await this.drain(drainMs);
    this.#near.abandon();
    link.outgoing.flush();
    this.#awaited.close();
    if (link.connected)
      await Promise.race([link.connection.flush().catch(() => undefined), pause(FLUSH_WITHIN_MS)]);
    this.statusEventEmitter.removeAllListeners();
  }

  override unwrap<T>(): T {
    return this.#options.link.connection as T;
  }

  #subscribe(subject: string, handler: MessageHandler): Subscription {
    const { link, queue, log } = this.#options;
    const broadcast = handler.extras?.['broadcast'] === true;
    return link.connection.subscribe(link.names.subject(subject), {
      ...(broadcast ? {} : { queue: link.names.queue(queue) }),
      callback: (error, message) => {
        if (error !== null) log.error({ err: error, subject }, 'The broker rejected the subscription.');
        else void this.#take(subject, handler, message);
      },
    });
  }

  // A broadcast also reaches other processes, so it goes over the broker.
  #offerNear(): void {
    for (const [subject, handler] of this.messageHandlers)
      if (handler.extras?.['broadcast'] !== true)
        this.#near.offer(subject, this.#templates.get(subject) ?? subject, handler);
  }

  async #take(subject: string, handler: MessageHandler, message: Msg): Promise<void> {
    const packet = readPacket(message);
    if (packet === undefined) {
      this.#options.log.warn({ subject, bytes: message.data.length }, 'Rejected a malformed packet.');
      this.#reply(message, { err: MALFORMED, isDisposed: true });
      return;
    }
    if (!isFromItsHost(this.#templates.get(subject) ?? subject, message.subject, packet.data)) {
      this.#options.log.warn({ subject: message.subject }, "Rejected a report in another host's name.");
      this.#reply(message, { id: packet.id, err: FORGED, isDisposed: true });
      return;
    }
    const admitted = this.#awaited.admit(message);
    const age = typeof admitted === 'number' ? admitted : await this.#running.count(admitted);
    if (age === undefined) return this.#refuseLate(subject, message, packet);
    const beats = message.headers?.has(HEADERS.heartbeat) === true;
    const requestId = requestIdOf(message.headers);
    const { link } = this.#options;
    const heartbeat = beats ? new CallerHeartbeat(link, this.#awaited, message, age) : undefined;
    await this.#running
      .run(
        (caller) =>
          requestContext.run({ requestId, caller }, () =>
            this.#handle(subject, handler, message, packet, caller),
          ),
        heartbeat,
        commandIdOf(packet.data),
      )
      .finally(() => heartbeat?.stop());
  }

  /** Rejects a request whose caller no longer waits or could not be asked. */
  #refuseLate(subject: string, message: Msg, packet: RequestPacket): void {
    const template = this.#templates.get(subject) ?? subject;
    late.inc({ subject: template });
    this.#options.log.info({ subject: template }, 'A request arrived after its caller had given up.');
    const err = { ...toEnvelope(noLongerAwaited()), effect: 'none' } as const;
    this.#reply(message, { id: packet.id, err, isDisposed: true });
  }

  async #handle(
    subject: string,
    handler: MessageHandler,
    message: Msg,
    packet: RequestPacket,
    caller: Running,
  ): Promise<void> {
    const template = this.#templates.get(subject) ?? subject;
    const { log } = this.#options;
    const parent = traceOf(message.headers);
    const reply = await handleRequest({ template, handler, data: packet.data, system: 'nats', parent, log });
    caller.settle();
    this.#reply(message, { id: packet.id, ...reply });
  }

  #reply(message: Msg, packet: ReplyPacket): void {
    if (message.reply === undefined || message.reply === '') return;
    const { link } = this.#options;
    const bytes = this.#encode(message.subject, packet);
    if (link.connected) {
      this.#send(message, bytes);
      return;
    }
    // A reply written while the broker is down is lost; the caller may still be waiting when it is back.
    const stop = link.onReconnect(() => {
      stop();
      this.#send(message, bytes);
    });
  }

  #send(message: Msg, bytes: Buffer): void {
    this.#options.link.outgoing.add(() => {
      try {
        message.respond(bytes);
      } catch (error) {
        this.#options.log.warn({ err: error, subject: message.subject }, 'A reply could not be sent.');
      }
    });
  }

  #encode(subject: string, packet: ReplyPacket): Buffer {
    const { link, log } = this.#options;
    const maxBytes = link.maxBytes ?? Number.POSITIVE_INFINITY;
    return Buffer.from(encodeReply(packet, { subject, maxBytes, log }));
  }
}

const MALFORMED = toEnvelope(
  new DomainError(
    'invalid',
    'invalid_request',
    'A request is a JSON object {pattern, data, id} with a text as id.',
  ),
);

const readPacket = (message: Msg): RequestPacket | undefined => {
  try {
    const packet: unknown = message.json();
    if (typeof packet !== 'object' || packet === null || !('id' in packet) || typeof packet.id !== 'string')
      return undefined;
    return { pattern: message.subject, data: 'data' in packet ? packet.data : undefined, id: packet.id };
  } catch {
    return undefined;
  }
};

const pause = (ms: number): Promise<void> => sleep(ms, undefined, { ref: false });
