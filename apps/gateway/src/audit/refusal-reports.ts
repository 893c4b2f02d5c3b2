import { auditRequests, type RecordRefusal } from '@berth/contracts/audit';
import { Requester } from '@berth/messaging';
import { pause } from '@berth/supervision';
import { Logger, requestContext } from '@berth/telemetry';
import { Injectable, type OnModuleDestroy } from '@nestjs/common';
import { actorOf, credentialIdOf } from '../auth/principal.js';
import type { HttpServer } from '../http/fastify-types.js';
import { routeNameOf } from '../http/route-name.js';

const MINUTE_MS = 60_000;
/** Refusals that are remembered as reported, and reports that wait for the service at the same time. */
const MAX_REMEMBERED = 10_000;
const MAX_PENDING = 1_000;
const ATTEMPTS = 5;
const RETRY_MS = 2_000;

/**
 * Reports every 403 to the audit, once per credential, route and minute. In the background: neither the response nor the
 * next request waits for it.
 */
@Injectable()
export class RefusalReports implements OnModuleDestroy {
  /** Every reported credential and route of the current minute. */
  #reported = new Set<string>();
  #minute = 0;
  readonly #pending = new Set<Promise<void>>();
  readonly #ending = new AbortController();

  constructor(
    private readonly requester: Requester,
    private readonly log: Logger,
  ) {}

  addTo(server: HttpServer): void {
    server.addHook('onResponse', (request, reply, done) => {
      const { principal, refusalCode } = request;
      // A 403 of a program behind the app proxy is not a refusal of Berth.
      if (reply.statusCode === 403 && principal !== null && refusalCode !== undefined) {
        const route = `${request.method} ${routeNameOf(request)}`;
        const { accountId } = principal;
        const credentialId = credentialIdOf(principal);
        const report = { accountId, actor: actorOf(principal), credentialId, route, code: refusalCode };
        this.#report({ ...report, at: Date.now() }, request.id);
      }
      done();
    });
  }

  /** Ends the retries, and waits for the reports that are being sent. */
  async onModuleDestroy(): Promise<void> {
    this.#ending.abort();
    await Promise.all(this.#pending);
  }

  #report(refusal: RecordRefusal, requestId: string): void {
    if (!this.#isFirst(`${refusal.credentialId} ${refusal.route}`, refusal.at)) return;
    if (this.#pending.size >= MAX_PENDING) return this.log.warn('too many refusals wait to be recorded');
    const sent = requestContext
      .run({ requestId }, () => this.#send(refusal))
      .finally(() => this.#pending.delete(sent));
    this.#pending.add(sent);
  }

  /** The audit service recognises what it has recorded, so forgetting costs only a request. */
  #isFirst(what: string, at: number): boolean {
    const minute = Math.floor(at / MINUTE_MS);
    if (minute !== this.#minute || this.#reported.size >= MAX_REMEMBERED) this.#reported = new Set();
    this.#minute = minute;
    if (this.#reported.has(what)) return false;
    this.#reported.add(what);
    return true;
  }

  async #send(refusal: RecordRefusal): Promise<void> {
    for (let attempt = 1; ; attempt++) {
      try {
        await this.requester.request(auditRequests.recordRefusal, refusal);
        return;
      } catch (error) {
        if (attempt === ATTEMPTS || this.#ending.signal.aborted)
          return this.log.warn({ err: error }, 'could not record a refusal in the audit');
        await pause(RETRY_MS * attempt, this.#ending.signal);
      }
    }
  }
}
