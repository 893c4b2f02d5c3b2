import { DomainError } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { callerOf } from '../auth/caller.js';
import { credentialIdOf } from '../auth/principal.js';
import type { ApiRequest } from '../http/fastify-types.js';

/** Followed logs and outputs that one key may have open at one gateway. */
export const MOST_FOLLOWED = 256;
const TRY_AGAIN_SECONDS = 5;

/** Counts the streams of server-sent events that each key holds open here. */
@Injectable()
export class FollowedStreams {
  readonly #open = new Map<string, number>();

  /** Counts one more until it is disposed of. Errors: exhausted `rate_limited` beyond `MOST_FOLLOWED`. */
  enter(request: Pick<ApiRequest, 'principal'>): Disposable {
    const holder = credentialIdOf(callerOf(request));
    const open = this.#open.get(holder) ?? 0;
    if (open >= MOST_FOLLOWED) {
      throw new DomainError(
        'exhausted',
        'rate_limited',
        `This key follows ${MOST_FOLLOWED} streams already. Close one, or use another key.`,
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
