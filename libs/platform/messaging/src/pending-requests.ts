import { withEffect, type DomainError, type WhenLost } from '@berth/kernel';
import type { RequestCaller } from '@berth/telemetry';
import { deadlineExceeded, serviceUnavailable } from './request-failures.js';

/** No reply and no heartbeat for this long: the handler's process is dead or frozen. */
export const SILENCE_MS = 3_500;
/** A running handler sends its first heartbeat within 550 ms; after this time the request counts as lost. */
export const FIRST_SIGN_MS = 1_150;
/** Interval between later attempts: the next one may reach another instance of the service. */
const NEXT_TRY_MS = 500;
/** Like `FIRST_SIGN_MS`, after the first heartbeat: two heartbeats are missing. */
const NEXT_SIGN_MS = 2_300;
const SWEEP_MS = 250;
/**
 * Each successful request allows one repeat, up to this number: a service that is only slow must not get every request
 * again.
 */
const MAX_SAVED_REPEATS = 100;

/** The total time that the requests of one operation may lose to silent handlers. */
export interface SilenceAllowance {
  /** Milliseconds left. A request fails after this silence if it is shorter than the usual one. */
  readonly leftMs: number;
  /** Deducts the time that a request has lost. */
  spend(millis: number): void;
}

/** What happens to a request that gets neither a heartbeat nor a reply. */
export interface SilenceRules {
  readonly whenLost: WhenLost;
  readonly allowance?: SilenceAllowance | undefined;
  /** Absent for a request whose handler continues without a caller. */
  readonly caller?: Pick<RequestCaller, 'gaveUp'> | undefined;
}

interface Pending {
  resolve(value: unknown): void;
  reject(error: DomainError): void;
  deadlineTimer: NodeJS.Timeout;
  readonly deadlineAt: number;
  readonly addedAt: number;
  heardAt: number;
  heard: boolean;
  readonly rules: SilenceRules;
  /** Sends the request again. */
  readonly again: () => void;
  triedAt: number;
  tries: number;
  /** Number of tries whose handler certainly did not start. */
  notBegun: number;
}

/** Requests that wait for their reply. Each has a timer for its deadline; one interval checks all for silence. */
export class PendingRequests {
  readonly #pending = new Map<string, Pending>();
  #sweeper: NodeJS.Timeout | undefined;
  #sweptAt = 0;
  #repeatsLeft = MAX_SAVED_REPEATS;

  /**
   * Registers `id`; the promise settles by `settle`, `fail`, its deadline or silence. Calls `again` for a lost request
   * that may be repeated.
   */
  add(id: string, deadlineMs: number, rules: SilenceRules, again: () => void): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const deadlineTimer = setTimeout(
        () => this.fail(id, deadlineExceeded()),
        Math.min(deadlineMs, 2 ** 31 - 1),
      );
      const now = performance.now();
      this.#pending.set(id, {
        resolve,
        reject,
        deadlineTimer,
        deadlineAt: now + deadlineMs,
        addedAt: now,
        heardAt: now,
        heard: false,
        rules,
        again,
        triedAt: now,
        tries: 1,
        notBegun: 0,
      });
      this.#sweepWhileNeeded();
    });
  }

  /**
   * How long `id` will wait for a heartbeat or the reply, in milliseconds; 0 if `id` is unknown or its caller has given up.
   */
  waitsMs(id: string): number {
    const pending = this.#pending.get(id);
    // The caller already has an error, but this process can still use the reply.
    if (pending === undefined || pending.rules.caller?.gaveUp === true) return 0;
    const now = performance.now();
    const heardAt = Math.min(now, pending.heardAt + this.#frozenMs(now));
    return Math.max(0, Math.min(silenceLimitOf(pending) - (now - heardAt), pending.deadlineAt - now));
  }

  /**
   * How long `id` has waited for a reply to earlier copies, in milliseconds; 0 on the first attempt. A handler asks the
   * caller about every later copy before it begins, which would double the cost of a request that is sent once.
   */
  waitedMs(id: string): number {
    const pending = this.#pending.get(id);
    return pending === undefined || pending.tries === 1 ? 0 : performance.now() - pending.addedAt;
  }

  /** Records a heartbeat; returns whether `id` is pending. */
  heard(id: string): boolean {
    const pending = this.#pending.get(id);
    if (pending === undefined) return false;
    spendSilence(pending);
    pending.heardAt = performance.now();
    pending.heard = true;
    return true;
  }

  settle(id: string, value: unknown): void {
    const pending = this.#take(id);
    if (pending === undefined) return;
    this.#repeatsLeft = Math.min(MAX_SAVED_REPEATS, this.#repeatsLeft + 1);
    pending.resolve(value);
  }

  fail(id: string, error: DomainError): void {
    this.#take(id)?.reject(error);
  }

  /** A handler failed one attempt. Even if it did nothing, another attempt may have started. */
  failAttempt(id: string, error: DomainError): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    const isOnly = pending.tries - pending.notBegun <= 1;
    this.fail(id, isOnly ? error : withEffect(error, 'unknown'));
  }

  /** One attempt certainly did not start: fails with `error` unless another attempt may have started. */
  failNotBegun(id: string, error: () => DomainError): void {
    const pending = this.#pending.get(id);
    if (pending === undefined) return;
    pending.notBegun++;
    if (pending.notBegun >= pending.tries) this.fail(id, error());
  }

  failAll(error: () => DomainError): void {
    for (const id of [...this.#pending.keys()]) this.fail(id, error());
  }

  /** Sends every request again that may be repeated, because messages may have been lost. */
  repeatAll(): void {
    const now = performance.now();
    for (const pending of this.#pending.values()) this.#repeat(pending, now);
  }

  #take(id: string): Pending | undefined {
    const pending = this.#pending.get(id);
    if (pending === undefined) return undefined;
    this.#pending.delete(id);
    spendSilence(pending);
    clearTimeout(pending.deadlineTimer);
    if (this.#pending.size === 0) {
      clearInterval(this.#sweeper);
      this.#sweeper = undefined;
    }
    return pending;
  }

  #repeat(pending: Pending, now: number): void {
    if (pending.rules.whenLost !== 'repeat' || this.#repeatsLeft < 1) return;
    this.#repeatsLeft--;
    pending.triedAt = now;
    pending.tries++;
    pending.again();
  }

  #sweepWhileNeeded(): void {
    if (this.#sweeper !== undefined) return;
    this.#sweptAt = performance.now();
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
  }

  #sweep(): void {
    const now = performance.now();
    const frozenMs = this.#frozenMs(now);
    this.#sweptAt = now;
    for (const [id, pending] of this.#pending) {
      pending.heardAt = Math.min(now, pending.heardAt + frozenMs);
      pending.triedAt = Math.min(now, pending.triedAt + frozenMs);
      if (now - pending.heardAt > silenceLimitOf(pending)) this.fail(id, serviceUnavailable());
      else if (isLost(pending, now)) this.#repeat(pending, now);
    }
  }

  /** How long this process was frozen since the last sweep: heartbeats may be unread, so this time is not silence. */
  #frozenMs(now: number): number {
    return Math.max(0, now - this.#sweptAt - 2 * SWEEP_MS);
  }
}

const isLost = (pending: Pending, now: number): boolean => {
  const { tries, heardAt, triedAt } = pending;
  if (tries > 1 && triedAt > heardAt) return now - triedAt > NEXT_TRY_MS;
  return now - heardAt > nextSignMs(pending);
};

const silenceLimitOf = (pending: Pending): number => {
  const { whenLost, allowance } = pending.rules;
  const usual = whenLost === 'report' ? nextSignMs(pending) : SILENCE_MS;
  // A shorter limit would give up on a running handler.
  return allowance === undefined ? usual : Math.min(usual, Math.max(nextSignMs(pending), allowance.leftMs));
};

/** Silence that is shorter than the interval between heartbeats is normal and not deducted. */
const spendSilence = (pending: Pending): void => {
  const silent = performance.now() - pending.heardAt;
  if (silent > nextSignMs(pending)) pending.rules.allowance?.spend(silent);
};

const nextSignMs = ({ heard }: Pending): number => (heard ? NEXT_SIGN_MS : FIRST_SIGN_MS);
