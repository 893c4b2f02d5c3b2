import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import type { OpenedApp } from '@berth/contracts/agents';
import { APP_PROTOCOL } from '@berth/contracts/runtime';
import { detach, DomainError } from '@berth/kernel';
import { failureOf, readText } from '../files/agent-transfer.js';
import type { HostConnections } from '../hosts/host-connections.js';
import { agentUnavailable, parseTransferRefusal, publicErrorOf } from '../http/transfer-refusal.js';

/** The host gives its guest 10 s, and the guest gives a program that is starting again 5 s. */
const WITHIN_MS = 15_000;
const PROBE_AFTER_MS = 15_000;
const REFUSED = 422;

/**
 * Opens a connection to an agent's program with a ticket. Throws `TicketLost` if a new ticket may help, upstream
 * `app_unreachable`, exhausted `too_many_app_connections`, unavailable `agent_unavailable`.
 */
export const dialApp = async (hosts: HostConnections, { ticket, ...target }: OpenedApp): Promise<Duplex> => {
  const dialled = Promise.withResolvers<Duplex>();
  const request = hosts.request(target, {
    agent: false,
    headers: { connection: 'Upgrade', upgrade: APP_PROTOCOL, authorization: `Bearer ${ticket}` },
  });
  const timer = setTimeout(() => request.destroy(new Error('The host did not respond.')), WITHIN_MS);
  request.once('upgrade', (_response: IncomingMessage, connection: Duplex, head: Buffer) => {
    if (head.length > 0) connection.unshift(head);
    // A host whose machine has failed sends nothing; without probes, its connections would stay open.
    request.socket?.setKeepAlive(true, PROBE_AFTER_MS);
    dialled.resolve(connection);
  });
  request.once('response', (response) => detach(refusalOf(response).then(dialled.reject, dialled.reject)));
  request.on('error', (error) => dialled.reject(failureOf(error)));
  request.end();
  return dialled.promise.finally(() => clearTimeout(timer));
};

const refusalOf = async (response: IncomingMessage): Promise<unknown> => {
  if (response.statusCode !== REFUSED) {
    response.destroy();
    return agentUnavailable(new Error(`The host responded with ${String(response.statusCode)}.`));
  }
  try {
    const refusal = parseTransferRefusal(await readText(response));
    // An older guest that has not been restarted since.
    return refusal?.code === 'guest_route_unknown' ? appUnreachable(refusal) : publicErrorOf(refusal);
  } catch (error) {
    return error;
  }
};

/** 502: nothing listens, or it does not speak HTTP. */
export const appUnreachable = (cause?: unknown): DomainError =>
  new DomainError(
    'upstream',
    'app_unreachable',
    "The agent's app cannot be reached: nothing listens on $PORT, or it did not respond with HTTP.",
    {},
    { cause },
  );
