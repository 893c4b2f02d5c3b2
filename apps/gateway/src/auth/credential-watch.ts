import { setTimeout as delay } from 'node:timers/promises';
import { detach, isDomainError } from '@berth/kernel';
import { Inject, Injectable, Optional } from '@nestjs/common';
import type { ApiRequest } from '../http/fastify-types.js';
import { HttpRefusal } from '../http/http-refusal.js';
import { Authenticators } from './authenticators.js';

export interface WatchBounds {
  /** Time between two lookups of one credential. */
  readonly everyMs: number;
  /** How long one lookup may take. */
  readonly lookUpMs: number;
  /** How long a credential that cannot be looked up still counts as valid. */
  readonly unknownMs: number;
}

/** Injection token of the bounds, for values other than the defaults. */
const WATCH_BOUNDS = Symbol('watch bounds');

/** A revocation is noticed within `everyMs + lookUpMs`, which is below the guaranteed 5 s. */
const BOUNDS: WatchBounds = { everyMs: 1_000, lookUpMs: 2_000, unknownMs: 300_000 };

/** Most requests are over before, so that only the others cost a lookup. */
const LONG_MS = 1_000;

type LookUp = (deadlineMs: number) => Promise<unknown>;

/** The open sockets and streams that depend on one credential. */
interface Watched {
  /** Throws once the credential is not valid. */
  readonly lookUp: LookUp;
  readonly listeners: Set<(reason: unknown) => void>;
  readonly over: AbortController;
}

/**
 * Watches the credentials of open sockets and streams, with one lookup per credential and second. A failed lookup is
 * not a revocation: streams stay open until the credential is known to be invalid, at most for `unknownMs`.
 */
@Injectable()
export class CredentialWatch {
  readonly #watched = new Map<string, Watched>();

  constructor(
    private readonly authenticators: Authenticators,
    @Optional() @Inject(WATCH_BOUNDS) private readonly bounds: WatchBounds = BOUNDS,
  ) {}

  /** How many credentials are being watched. */
  get size(): number {
    return this.#watched.size;
  }

  /** Resolves with the reason why the request's credential is no longer valid, or with undefined once `over` aborts. */
  untilRefused({ credential }: Pick<ApiRequest, 'credential'>, over: AbortSignal): Promise<unknown> {
    return this.#until(
      credential?.hash ?? '',
      (deadlineMs) => this.authenticators.authenticate(credential, { isRequest: false, deadlineMs }),
      over,
    );
  }

  /** Like `untilRefused`, for what was made with a key that is known by its id. */
  untilKeyRefused(keyId: string, over: AbortSignal): Promise<unknown> {
    return this.#until(keyId, (deadlineMs) => this.authenticators.authenticateKeyId(keyId, deadlineMs), over);
  }

  #until(key: string, lookUp: LookUp, over: AbortSignal): Promise<unknown> {
    if (over.aborted) return Promise.resolve(undefined);
    const watched = this.#watched.get(key) ?? this.#begin(key, lookUp);
    return new Promise((resolve) => {
      const settle = (reason: unknown): void => {
        over.removeEventListener('abort', leave);
        watched.listeners.delete(settle);
        if (watched.listeners.size === 0) this.#end(key, watched);
        resolve(reason);
      };
      const leave = (): void => settle(undefined);
      over.addEventListener('abort', leave, { once: true });
      watched.listeners.add(settle);
    });
  }

  /**
   * Calls `cut` with the reason once the credential of a request that takes long is no longer valid, until the result is
   * disposed.
   */
  whileLong(request: Pick<ApiRequest, 'credential'>, cut: (reason: unknown) => void): Disposable {
    const over = new AbortController();
    const timer = setTimeout(() => {
      const refused = this.untilRefused(request, over.signal);
      detach(refused.then((reason) => (reason === undefined ? undefined : cut(reason))));
    }, LONG_MS);
    return {
      [Symbol.dispose]: () => {
        clearTimeout(timer);
        over.abort();
      },
    };
  }

  #begin(key: string, lookUp: LookUp): Watched {
    const watched = {
      lookUp,
      listeners: new Set<(reason: unknown) => void>(),
      over: new AbortController(),
    };
    this.#watched.set(key, watched);
    const refused = this.#lookUntilRefused(watched);
    detach(refused.then((reason) => watched.listeners.forEach((settle) => settle(reason))));
    return watched;
  }

  #end(key: string, watched: Watched): void {
    if (this.#watched.get(key) === watched) this.#watched.delete(key);
    watched.over.abort();
  }

  async #lookUntilRefused({ lookUp, over }: Watched): Promise<unknown> {
    const { everyMs, lookUpMs, unknownMs } = this.bounds;
    let knownAt = performance.now();
    let nextAt = knownAt + everyMs;
    for (;;) {
      await delay(Math.max(0, nextAt - performance.now()), undefined, { signal: over.signal }).catch(
        () => undefined,
      );
      if (over.signal.aborted) return undefined;
      const askedAt = performance.now();
      nextAt = askedAt + everyMs;
      try {
        await lookUp(lookUpMs);
        knownAt = askedAt;
      } catch (error) {
        if (isRefusal(error) || performance.now() - knownAt > unknownMs) return error;
      }
    }
  }
}

/** Whether the lookup succeeded and found that the credential is not valid. */
const isRefusal = (error: unknown): boolean =>
  error instanceof HttpRefusal ||
  isDomainError(error, 'unauthenticated') ||
  isDomainError(error, 'forbidden');
