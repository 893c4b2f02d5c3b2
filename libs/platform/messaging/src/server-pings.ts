import { createConnection, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import type { Logger } from '@berth/telemetry';
import type { ServerInfo } from '@nats-io/transport-node';
import { accessOptions, type NatsCredentials } from './nats-address.js';

/** A server with the advised `ping_interval: "2s"` pings a silent client at least every 4 s. */
const ADVISED_WITHIN_MS = 10_000;

export interface PingProbe {
  readonly url: string;
  readonly credentials?: NatsCredentials | undefined;
  /** `host:port` of the server to ask. */
  readonly server: string;
  readonly signal: AbortSignal;
  /** The server's interval counts as too long when no ping arrives within this time; default 10 s. */
  readonly withinMs?: number;
}

const ADVICE =
  'The servers of the message broker take long to notice that one of them is frozen, and route requests to it until ' +
  'they do. Set ping_interval: "2s" and ping_max: 2 on every server (docs/operations.md).';

const asked = new Set<string>();

/** Logs advice, once in a process for each server, when a server of a cluster pings its clients too rarely. */
export const adviseOnPings = async (probe: PingProbe, log: Logger): Promise<void> => {
  if (asked.has(probe.server)) return;
  asked.add(probe.server);
  if ((await pingsOften(probe)) === false) log.warn({ server: probe.server }, ADVICE);
};

/**
 * Whether the server pings a silent client in time. Undefined where that is irrelevant (no cluster) or unknown: over
 * TLS, or when the connection ends first. The client library sends its own pings and does not show the server's pings,
 * so this speaks the protocol.
 */
export const pingsOften = async (probe: PingProbe): Promise<boolean | undefined> => {
  const [, host = '', port = ''] = /^\[?(.*?)\]?:(\d+)$/.exec(probe.server) ?? [];
  const socket = createConnection({ host, port: Number(port), signal: probe.signal });
  const ended = new AbortController();
  socket.once('close', () => ended.abort());
  socket.on('error', () => ended.abort());
  try {
    return await countPings(socket, probe, ended.signal);
  } finally {
    socket.destroy();
  }
};

const countPings = async (
  socket: Socket,
  probe: PingProbe,
  ended: AbortSignal,
): Promise<boolean | undefined> => {
  // The first ping measures the round trip and is sent after 2 s, regardless of the interval; only the second one shows
  // the interval.
  let pings = 0;
  const outcome = Promise.withResolvers<boolean | undefined>();
  ended.addEventListener('abort', () => outcome.resolve(undefined), { once: true });
  let timer: NodeJS.Timeout | undefined;
  createInterface({ input: socket })
    .on('error', () => outcome.resolve(undefined))
    .on('line', (line) => {
      if (line.startsWith('INFO ')) {
        const info = JSON.parse(line.slice('INFO '.length)) as ServerInfo;
        if (info.cluster === undefined || info.tls_required === true) outcome.resolve(undefined);
        else if (pings === 0) socket.write(`CONNECT ${greeting(info, probe)}\r\n`);
      } else if (line.startsWith('PING')) {
        socket.write('PONG\r\n');
        pings++;
        if (pings === 2) outcome.resolve(true);
        else timer = setTimeout(() => outcome.resolve(false), probe.withinMs ?? ADVISED_WITHIN_MS);
      } else if (line.startsWith('-ERR')) outcome.resolve(undefined);
    });
  try {
    return await outcome.promise;
  } finally {
    clearTimeout(timer);
  }
};

const greeting = (info: ServerInfo, { url, credentials }: PingProbe): string => {
  const { user, pass, token, authenticator } = accessOptions(url, credentials);
  const authenticators = authenticator === undefined ? [] : [authenticator].flat();
  const proofs = authenticators.map((one) => one(info.nonce));
  return JSON.stringify({
    verbose: false,
    pedantic: false,
    lang: 'node',
    version: '1',
    protocol: 1,
    name: 'berth-pings',
    ...(user === undefined ? {} : { user, pass }),
    ...(token === undefined ? {} : { auth_token: token }),
    ...Object.assign({}, ...proofs),
  });
};
