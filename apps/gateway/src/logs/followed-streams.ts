import { DomainError } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { callerOf } from '../auth/caller.js';
import { credentialIdOf } from '../auth/principal.js';
import type { ApiRequest } from '../http/fastify-types.js';

/** How many logs and outputs one key may follow at once at one gateway. */
export const MAX_FOLLOWED_STREAMS = 256;
const TRY_AGAIN_SECONDS = 5;

/** Counts the streams of server-sent events that each key holds open here. */
@Injectable()
export class FollowedStreams {
  readonly #open = new Map<string, number>();

  /**
   * Counts one more stream until the result is disposed. Errors: exhausted `rate_limited` beyond
   * `MAX_FOLLOWED_STREAMS`.
   */
  enter(request: Pick<ApiRequest, 'principal'>): Disposable {
    const holder = credentialIdOf(callerOf(request));
    const open = this.#open.get(holder) ?? 0;
    if (open >= MAX_FOLLOWED_STREAMS) {
      throw new DomainError(
        'exhausted',
        'rate_limited',
        `This key already follows ${MAX_FOLLOWED_STREAMS} streams. Close one, or use another key.`,
        { retryAfterSeconds: TRY_AGAIN_SECONDS },
      );
    }
    this.#open.set(holder, open + 1);
    return { [Symbol.dispose]: () => this.#leave(holder) };
  }

  #leave(holder: string): void {
    const left = (this.#open.get(holder) ?? 1) - 1;
    if (left === 0) this.#open.delete(holder);
    else this.#open.set(holder, left);
  }
}
