import { setTimeout as sleep } from 'node:timers/promises';
import { detach, DomainError, isDomainError } from '@berth/kernel';
import { metrics, requestContext, withSpan, type Logger } from '@berth/telemetry';
import type { Msg, Subscription } from '@nats-io/transport-node';
import { ServerNats, type MessageHandler } from '@nestjs/microservices';
import { isObservable, lastValueFrom } from 'rxjs';
import { AwaitedRequests } from './awaited-requests.js';
import { CallerHeartbeat } from './caller-heartbeat.js';
import type { MonotonicClock } from './monotonic-clock.js';
import type { NatsLink } from './nats-link.js';
import { noLongerAwaited } from './request-failures.js';
import {
  HEADERS,
  INTERNAL_ERROR,
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

const HEADROOM_BYTES = 1_024;
const FLUSH_WITHIN_MS = 2_000;

const duration = metrics.histogram(
  'berth_handler_seconds',
  'Duration of handled requests, by subject and outcome.',
  { unit: 's', buckets: [0.001, 0.005, 0.02, 0.1, 0.5, 1, 5, 30, 120, 600] },
  ['subject', 'outcome'],
);
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
  #open: Subscription[] = [];

  constructor(options: BerthNatsServerOptions) {
    super({ queue: options.queue });
    this.#options = options;
    this.#awaited = new AwaitedRequests(options.link, options.clock);
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
        else detach(this.#take(subject, handler, message));
      },
    });
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
    const age = typeof admitted === 'number' ? admitted : await this.#running.hold(admitted);
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
    const startedAt = performance.now();
    let outcome = 'ok';
    try {
      const attributes = { 'messaging.system': 'nats', 'messaging.destination.template': template };
      const response = await withSpan(
        `handle ${template}`,
        { kind: 'server', parent: traceOf(message.headers), attributes },
        () => invoke(handler, packet.data),
      );
      caller.settle();
      this.#reply(message, { id: packet.id, response, isDisposed: true });
    } catch (error) {
      caller.settle();
      outcome = isDomainError(error) ? error.kind : 'internal';
      if (outcome === 'internal')
        this.#options.log.error({ err: error, subject: template }, 'A handler failed.');
      this.#reply(message, { id: packet.id, err: toEnvelope(error), isDisposed: true });
    } finally {
      duration.observe((performance.now() - startedAt) / 1_000, { subject: template, outcome });
    }
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

  // A reply that cannot be encoded becomes an internal error, so that the caller does not wait for nothing.
  #encode(subject: string, packet: ReplyPacket): Buffer {
    const { link, log } = this.#options;
    const maxBytes = link.connection.info?.max_payload ?? Number.POSITIVE_INFINITY;
    try {
      const bytes = Buffer.from(JSON.stringify(packet));
      if (bytes.length + HEADROOM_BYTES <= maxBytes) return bytes;
      log.error({ subject, bytes: bytes.length, maxBytes }, 'A reply is larger than the broker accepts.');
    } catch (error) {
      log.error({ err: error, subject }, 'A reply is not valid JSON.');
    }
    const { id } = packet;
    return Buffer.from(
      JSON.stringify({ ...(id === undefined ? {} : { id }), err: INTERNAL_ERROR, isDisposed: true }),
    );
  }
}

const FORGED = toEnvelope(new DomainError('invalid', 'invalid_request', 'A host reports only about itself.'));
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

const commandIdOf = (data: unknown): string | undefined =>
  typeof data === 'object' && data !== null && 'commandId' in data && typeof data.commandId === 'string'
    ? data.commandId
    : undefined;

const invoke = async (handler: MessageHandler, data: unknown): Promise<unknown> => {
  const result: unknown = await handler(data);
  return isObservable(result) ? lastValueFrom(result, { defaultValue: undefined }) : result;
};

const pause = (ms: number): Promise<void> => sleep(ms, undefined, { ref: false });
