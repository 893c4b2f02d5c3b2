import type { RequestCaller } from '@berth/telemetry';
import type { NearHandler } from './process-handlers.js';
import { deadlineExceeded } from './request-failures.js';
import { fromEnvelope, type ReplyPacket } from './request-wire.js';

/** A request to a handler of this process. */
export interface NearRequest {
  readonly subject: string;
  /** The request's packet as JSON. */
  readonly packet: string;
  readonly deadlineMs: number;
  /** The caller of the handler that sends this request; absent if the request does not depend on it. */
  readonly caller: Pick<RequestCaller, 'gaveUp'> | undefined;
}

/**
 * Returns the response of a handler of this process or throws its DomainError. Nothing on the way can be lost, frozen or
 * late by itself, so this needs neither heartbeats nor repeats.
 */
export const requestNear = (
  handler: NearHandler,
  { subject, packet, deadlineMs, caller }: NearRequest,
): Promise<unknown> =>
  new Promise((resolve, reject) => {
    let over = false;
    const sender = {
      get gaveUp(): boolean {
        return over || caller?.gaveUp === true;
      },
    };
    const deadline = setTimeout(
      () => {
        over = true;
        reject(deadlineExceeded());
      },
      Math.min(deadlineMs, 2 ** 31 - 1),
    );
    void handler.handle(subject, packet, sender).then((text) => {
      over = true;
      clearTimeout(deadline);
      const { err, response } = JSON.parse(text) as ReplyPacket;
      if (err === undefined || err === null) resolve(response);
      else reject(fromEnvelope(err));
    });
  });
