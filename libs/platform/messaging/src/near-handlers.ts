import { newId } from '@berth/kernel';
import { requestContext, type Logger, type RequestCaller } from '@berth/telemetry';
import type { MessageHandler } from '@nestjs/microservices';
import { commandIdOf, encodeReply, FORGED, handleRequest } from './handled-request.js';
import type { NatsLink } from './nats-link.js';
import type { NearHandler } from './process-handlers.js';
import { serviceUnavailable } from './request-failures.js';
import { isFromItsHost, toEnvelope, type ReplyPacket, type RequestPacket } from './request-wire.js';
import type { RunningHandlers } from './running-handlers.js';

/** The handlers of one service, for requesters in the same process. */
export class NearHandlers {
  readonly #remove: (() => void)[] = [];
  readonly #abandon = new Set<() => void>();

  constructor(
    private readonly link: NatsLink,
    private readonly running: RunningHandlers,
    private readonly log: Logger,
  ) {}

  /** Offers the handler of `template`, which subscribes to `subscribed` on the broker. */
  offer(subscribed: string, template: string, handler: MessageHandler): void {
    const { handlers, names } = this.link;
    if (handlers === undefined) return;
    const { link } = this;
    const near: NearHandler = {
      get isReachable() {
        return link.connected;
      },
      handle: (subject, packet, sender) => this.#handle({ template, subject, handler }, packet, sender),
    };
    this.#remove.push(handlers.add(names.subject(subscribed), near));
  }

  /** No request arrives here any more; those that run continue. */
  withdraw(): void {
    for (const remove of this.#remove.splice(0)) remove();
  }

  /** The callers of handlers that still run get an error: the service no longer waits for them. */
  abandon(): void {
    for (const abandon of this.#abandon) abandon();
  }

  #handle(target: Target, packet: string, sender: Pick<RequestCaller, 'gaveUp'>): Promise<string> {
    return new Promise((resolve) => {
      const abandon = (): void => resolve(ABANDONED);
      this.#abandon.add(abandon);
      void this.running
        .count(this.#reply(target, packet, sender))
        .then(resolve)
        .finally(() => this.#abandon.delete(abandon));
    });
  }

  async #reply(
    { template, subject, handler }: Target,
    packet: string,
    sender: Pick<RequestCaller, 'gaveUp'>,
  ): Promise<string> {
    const { log, link } = this;
    const { data } = JSON.parse(packet) as Pick<RequestPacket, 'data'>;
    const encode = (reply: ReplyPacket): string =>
      encodeReply(reply, { subject, maxBytes: link.maxBytes ?? Number.POSITIVE_INFINITY, log });
    if (!isFromItsHost(template, subject, data)) {
      log.warn({ subject }, "Rejected a report in another host's name.");
      return encode({ err: FORGED, isDisposed: true });
    }
    const caller = new NearCaller(sender, commandIdOf(data));
    const context = { requestId: requestContext.current()?.requestId ?? newId('req'), caller };
    const request = { template, handler, data, system: 'process', log } as const;
    const reply = await requestContext.run(context, () => handleRequest(request));
    caller.settle();
    return encode(reply);
  }
}

interface Target {
  readonly template: string;
  readonly subject: string;
  readonly handler: MessageHandler;
}

const ABANDONED = JSON.stringify({ err: toEnvelope(serviceUnavailable()), isDisposed: true });

class NearCaller implements RequestCaller {
  readonly waitedMs = 0;
  #settled = false;

  constructor(
    private readonly sender: Pick<RequestCaller, 'gaveUp'>,
    readonly commandId: string | undefined,
  ) {}

  get gaveUp(): boolean {
    return !this.#settled && this.sender.gaveUp;
  }

  /** The caller has its reply: work that continues afterwards does not depend on it. */
  settle(): void {
    this.#settled = true;
  }
}
