import type { RawData, WebSocket } from 'ws';

/** With more than this buffered for one side, the other side is paused. */
const HIGH_WATER_BYTES = 256 * 1024;
/** A client that vanished without closing must not keep an agent or computer awake. */
const PING_EVERY_MS = 15_000;
/** A side that does not complete the close handshake is disconnected. */
const CLOSE_WITHIN_MS = 1_000;
const NO_STATUS = 1005;
const ABNORMAL = 1006;
const INTERNAL_ERROR = 1011;

/** Connects two WebSockets until either closes; `over` resolves when both have closed. Frames pass unchanged. */
export class Bridge {
  readonly over: Promise<void>;

  constructor(
    private readonly client: WebSocket,
    private readonly host: WebSocket,
  ) {
    pass(client, host);
    pass(host, client);
    client.on('error', () => client.terminate());
    host.on('error', () => host.terminate());
    host.on('close', (code, reason) => {
      if (code === ABNORMAL || code === NO_STATUS) this.end(INTERNAL_ERROR, 'The other side is gone.');
      else this.end(code, reason.toString());
    });
    client.on('close', () => close(host, 1000, 'The client left.'));
    const watch = keepAlive(client);
    this.over = Promise.all([closed(client), closed(host)]).then(() => clearInterval(watch));
  }

  /** Closes both sides, the client's with `code`. */
  end(code: number, reason: string): void {
    close(this.client, code, reason);
    close(this.host, 1000, 'The socket ends.');
  }
}

const pass = (from: WebSocket, to: WebSocket): void => {
  from.on('message', (data: RawData, isBinary: boolean) => {
    if (to.readyState !== to.OPEN) return;
    if (to.bufferedAmount <= HIGH_WATER_BYTES) return to.send(data, { binary: isBinary });
    from.pause();
    to.send(data, { binary: isBinary }, () => from.resume());
  });
};

const close = (socket: WebSocket, code: number, reason: string): void => {
  if (socket.readyState === socket.CLOSED) return;
  // A paused socket would not receive the other side's close frame.
  socket.resume();
  socket.close(code, reason);
  setTimeout(() => socket.terminate(), CLOSE_WITHIN_MS).unref();
};

const closed = (socket: WebSocket): Promise<void> =>
  new Promise((resolve) => {
    if (socket.readyState === socket.CLOSED) resolve();
    else socket.once('close', () => resolve());
  });

const keepAlive = (client: WebSocket): NodeJS.Timeout => {
  let heard = true;
  client.on('pong', () => (heard = true));
  return setInterval(() => {
    if (!heard) return client.terminate();
    heard = false;
    client.ping();
  }, PING_EVERY_MS).unref();
};
