import { detach } from '@berth/kernel';
import { ServiceContext } from '@berth/service';
import { Injectable } from '@nestjs/common';
import type { WebSocket } from 'ws';
import { HttpRefusal } from '../http/http-refusal.js';
import { Bridge } from './bridge.js';
import { dialHost } from './dial-host.js';
import { withFreshTicket, type Open } from './fresh-ticket.js';
import { HostConnections } from './host-connections.js';

/** Why a socket is closed from here: a code of RFC 6455 §7.4.1, and a reason for people. */
export interface SocketEnd {
  readonly code: number;
  readonly reason: string;
}

export const NORMAL_CLOSURE = 1000;
const GOING_AWAY = 1001;
const POLICY_VIOLATION = 1008;

export const CREDENTIAL_ENDED: SocketEnd = {
  code: POLICY_VIOLATION,
  reason: 'The credential is no longer valid.',
};

/** Joins WebSockets of callers to those of hosts. */
@Injectable()
export class HostSockets {
  constructor(
    private readonly hosts: HostConnections,
    private readonly context: ServiceContext,
  ) {}

  /**
   * Opens the host's side, paused. Throws the errors of `open` and of the host, unavailable `agent_unavailable`, and 408 when
   * `gone` aborts: then the host's side is closed again.
   */
  async dial(open: Open, gone: AbortSignal): Promise<WebSocket> {
    const dialled = withFreshTicket(open, (opened) => dialHost(this.hosts, opened, gone));
    const host = await Promise.race([dialled, whenAborted(gone)]);
    if (host !== undefined && !gone.aborted) return host;
    dialled.then((late) => late.terminate()).catch(() => undefined);
    throw new HttpRefusal(408, 'request_aborted', 'The client hung up.');
  }

  /**
   * Passes frames until either side closes, this service stops, or one of `ends` resolves with a reason; resolves when both
   * are closed. The signal for `ends` then aborts.
   */
  async join(
    client: WebSocket,
    host: WebSocket,
    ends: (over: AbortSignal) => readonly Promise<SocketEnd | undefined>[],
  ): Promise<void> {
    const bridge = new Bridge(client, host);
    host.resume();
    const over = new AbortController();
    const { stopping } = this.context;
    const stop = (): void => bridge.end(GOING_AWAY, 'The service stops.');
    stopping.addEventListener('abort', stop, { once: true });
    if (stopping.aborted) stop();
    for (const end of ends(over.signal))
      detach(end.then((known) => (known === undefined ? undefined : bridge.end(known.code, known.reason))));
    await bridge.over;
    over.abort();
    stopping.removeEventListener('abort', stop);
  }
}

const whenAborted = (signal: AbortSignal): Promise<undefined> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener('abort', () => resolve(undefined), { once: true });
  });
