import { detach } from '@berth/kernel';
import { createInbox, headers as newHeaders, type Msg, type Subscription } from '@nats-io/transport-node';
import { processClock, type MonotonicClock } from './monotonic-clock.js';
import type { NatsLink } from './nats-link.js';
import { FIRST_SIGN_MS } from './pending-requests.js';
import { HEADERS, parseWaiting, sendingOf, type Sending, type Waiting } from './request-wire.js';
import { SenderClocks } from './sender-clocks.js';

/** Until this share of the caller's waiting time has passed, a request begins without asking the caller. */
const SURE_SHARE = 0.7;
const ASK_WITHIN_MS = 1_000;

/**
 * Decides whether the caller of an incoming request still waits for it: the broker, or a frozen process, may have held
 * the request for minutes. A request that is certainly young, according to the measured clock of its sender, begins
 * immediately. Otherwise this asks the caller, which needs no clock.
 */
export class AwaitedRequests {
  readonly #inbox: string;
  readonly #clocks: SenderClocks;
  readonly #listeners = new Map<string, (waiting: Waiting | undefined) => void>();
  readonly #refreshing = new Set<string>();
  #subscription: Subscription | undefined;
  #sequence = 0;

  constructor(
    private readonly link: NatsLink,
    private readonly clock: MonotonicClock = processClock,
  ) {
    this.#inbox = createInbox(link.inboxPrefix);
    this.#clocks = new SenderClocks(clock);
  }

  open(): void {
    this.#subscription ??= this.link.connection.subscribe(`${this.#inbox}.*.*`, {
      callback: (error, message) => {
        if (error !== null) return;
        this.#listeners.get(message.subject.slice(message.subject.lastIndexOf('.') + 1))?.(
          parseWaiting(message),
        );
      },
    });
  }

  close(): void {
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
  }

  /**
   * Returns an upper bound of the request's age, in milliseconds, if the request may begin; undefined if it may not.
   * The result is a promise if the caller has to be asked.
   */
  admit(message: Msg): number | Promise<number | undefined> {
    const sending = sendingOf(message.headers);
    if (sending === undefined || !hasReply(message)) return 0;
    const age = this.#clocks.ageAtMost(sending.clock, sending.sentAt);
    if (age === undefined || age > sureMs(sending)) return this.#isAwaited(message, sending.waitsMs);
    if (this.#clocks.isDue(sending.clock)) this.#refresh(sending.clock, message.reply);
    return Math.max(0, age);
  }

  /**
   * Returns the reply subject for heartbeats that are sent to `asked`, the reply subject of a request. Calls `onGaveUp`
   * when the caller replies there that it no longer waits.
   */
  watch(asked: string, onGaveUp: () => void): { readonly reply: string; readonly stop: () => void } {
    const token = this.#listen((waiting) => {
      if (waiting !== undefined && waiting.waitsMs <= 0) onGaveUp();
    });
    return { reply: this.#replyOf(asked, token), stop: () => this.#listeners.delete(token) };
  }

  async #isAwaited(message: Msg & { readonly reply: string }, waitsMs: number): Promise<number | undefined> {
    const askedAt = this.clock.now();
    const waiting = await this.#ask(message.reply);
    if (waiting === undefined) return undefined;
    const waited = this.clock.now() - askedAt;
    // The caller measured `waitsMs` after the question was sent. If it then loses the broker, it gives up earlier.
    if (waited >= Math.min(waiting.waitsMs, ASK_WITHIN_MS)) return undefined;
    return Math.max(0, waitsMs - waiting.waitsMs) + waited;
  }

  #refresh(sender: string, reply: string): void {
    if (this.#refreshing.has(sender)) return;
    this.#refreshing.add(sender);
    detach(this.#ask(reply).finally(() => this.#refreshing.delete(sender)));
  }

  #ask(subject: string): Promise<Waiting | undefined> {
    return new Promise((resolve) => {
      const askedAt = this.clock.now();
      const token = this.#listen((waiting) => {
        if (waiting !== undefined) this.#clocks.learn(waiting.clock, askedAt, waiting.now);
        end(waiting);
      });
      const timer = setTimeout(() => end(undefined), ASK_WITHIN_MS);
      const end = (waiting: Waiting | undefined): void => {
        clearTimeout(timer);
        this.#listeners.delete(token);
        resolve(waiting);
      };
      if (!this.#sendQuestion(subject, token)) end(undefined);
    });
  }

  #sendQuestion(subject: string, token: string): boolean {
    if (!this.link.connected) return false;
    const headers = newHeaders();
    headers.set(HEADERS.stillWaiting, '1');
    try {
      this.link.connection.publish(subject, undefined, {
        reply: this.#replyOf(subject, token),
        headers,
      });
      return true;
    } catch {
      return false;
    }
  }

  // The caller replies here, and the broker's permissions depend on the name of the replying service.
  #replyOf(asked: string, token: string): string {
    const [, , caller = 'caller'] = asked.split('.');
    return `${this.#inbox}.${caller}.${token}`;
  }

  #listen(listener: (waiting: Waiting | undefined) => void): string {
    this.#sequence = (this.#sequence + 1) % Number.MAX_SAFE_INTEGER;
    const token = this.#sequence.toString(36);
    this.#listeners.set(token, listener);
    return token;
  }
}

/**
 * The maximum age at which a request begins without asking the caller. If the caller may have sent another copy, it may
 * already have received the reply to that one and acted on it.
 */
const sureMs = ({ waitsMs, waitedMs }: Sending): number =>
  waitedMs > 0 ? 0 : Math.min(waitsMs * SURE_SHARE, FIRST_SIGN_MS);

const hasReply = (message: Msg): message is Msg & { readonly reply: string } =>
  message.reply !== undefined && message.reply !== '';
