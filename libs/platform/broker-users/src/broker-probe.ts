import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** The address of a nats-server for clients. */
export interface BrokerAddress {
  readonly host: string;
  readonly port: number;
}

const REPLY_WITHIN_MS = 1_000;

/** The greeting of the server; undefined if there is none within a second. */
export async function readGreeting(
  address: BrokerAddress,
  signal: AbortSignal,
): Promise<Record<string, unknown> | undefined> {
  return withSocket(address, signal, async (socket) => {
    const [line = ''] = (await nextText(socket)).split('\r\n');
    return line.startsWith('INFO ') ? (JSON.parse(line.slice(5)) as Record<string, unknown>) : undefined;
  });
}

/** Whether the server accepts this user; undefined while it does not respond. */
export async function acceptsUser(
  address: BrokerAddress,
  user: string,
  pass: string,
): Promise<boolean | undefined> {
  return withSocket(address, AbortSignal.timeout(2 * REPLY_WITHIN_MS), async (socket) => {
    await nextText(socket);
    socket.write(
      `CONNECT ${JSON.stringify({ user, pass, verbose: false, lang: 'node', version: '1' })}\r\nPING\r\n`,
    );
    const reply = await nextText(socket);
    return reply.startsWith('PONG');
  });
}

async function withSocket<Result>(
  { host, port }: BrokerAddress,
  signal: AbortSignal,
  talk: (socket: Socket) => Promise<Result>,
): Promise<Result | undefined> {
  const socket = connect({ host, port, signal });
  socket.setTimeout(REPLY_WITHIN_MS, () => socket.destroy());
  // `once` below sees only errors that happen while it waits.
  socket.on('error', () => undefined);
  try {
    return await talk(socket);
  } catch {
    return undefined;
  } finally {
    socket.destroy();
  }
}

async function nextText(socket: Socket): Promise<string> {
  const ended = new AbortController();
  socket.once('close', () => ended.abort());
  const [first]: unknown[] = await once(socket, 'data', { signal: ended.signal });
  return String(first);
}
