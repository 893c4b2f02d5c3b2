import { FairShares } from '@berth/sockets';
import { Inject, Injectable } from '@nestjs/common';
import { GatewayConfig } from '../config.js';
import type { ApiReply } from '../http/fastify-types.js';
import { HttpRefusal } from '../http/http-refusal.js';
import type { Principal } from './principal.js';

/** The part of the connections that no account gets: for requests whose caller is not known yet, and `/health`. */
const RESERVE = 0.1;
const TRY_AGAIN_SECONDS = 1;

/** Bounds the requests, streams and sockets that one account has open at this gateway, so that others get connections. */
@Injectable()
export class ConnectionShares {
  readonly #shares: FairShares;

  constructor(@Inject(GatewayConfig) { maxConnections }: Pick<GatewayConfig, 'maxConnections'>) {
    this.#shares = new FairShares(Math.ceil(maxConnections * (1 - RESERVE)));
  }

  /** Counts the caller's connection until the response is over. Returns 429 if the account has its share. */
  refusalOf(principal: Principal, reply: ApiReply): HttpRefusal | undefined {
    return this.refusalFor(holderOf(principal), reply);
  }

  /** Like `refusalOf`, for an account whose caller has no credential of its own. */
  refusalFor(holder: string, reply: ApiReply): HttpRefusal | undefined {
    if (this.hold(holder, reply)) return undefined;
    const message =
      'The account has as many requests, streams and sockets open as leave connections for others. Close some of them.';
    return new HttpRefusal(429, 'rate_limited', message, {}, { 'retry-after': String(TRY_AGAIN_SECONDS) });
  }

  /** Counts the connection for any holder, and returns whether it may have it. */
  hold(holder: string, { raw: response }: Pick<ApiReply, 'raw'>): boolean {
    return this.#shares.hold(holder, response);
  }
}

/** Anybody may call a webhook without its token, so that this takes nothing from the account. */
const holderOf = (principal: Principal): string =>
  principal.kind === 'webhook' && principal.tokenId === null ? principal.agentId : principal.accountId;
