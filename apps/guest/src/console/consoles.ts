import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { DomainError } from '@berth/kernel';
import { GUEST_ROUTES, type PutProgram } from '@berth/guest-protocol';
import type { RawData, WebSocket, WebSocketServer } from 'ws';
import type { UpgradeRoute } from '../server/stream-route.js';
import { createWebSocketServer, toBuffer } from '../server/web-sockets.js';
import { isSize, Terminal, type TerminalSize } from './terminal.js';

/** Maximum size of one message, enough for a large paste. */
const MAX_MESSAGE_BYTES = 1024 * 1024;
/** Limit of buffered bytes towards one side; above it the other side is paused. */
const HIGH_WATER_BYTES = 256 * 1024;
const POLL_EVERY_MS = 20;
const NORMAL_CLOSURE = 1000;
const GOING_AWAY = 1001;
const MAX_CONSOLES = 32;

/** The current program, and the environment of its processes. */
export interface ConsoleEnvironment {
  readonly program: PutProgram;
  readonly env: Readonly<Record<string, string>>;
}

/** Terminals over WebSockets: binary frames carry the terminal's bytes, text frames its size. */
export class Consoles {
  #server: Promise<WebSocketServer> | undefined;

  constructor(private readonly environment: () => ConsoleEnvironment) {}

  /** Errors, before anything is started: invalid `invalid_size`; exhausted `too_many_consoles`. */
  async open(request: IncomingMessage, socket: Duplex, head: Buffer, size: TerminalSize): Promise<void> {
    if (!isSize(size)) {
      throw new DomainError('invalid', 'invalid_size', 'cols and rows must be whole numbers from 1 to 1000.');
    }
    const server = await (this.#server ??= createWebSocketServer(MAX_MESSAGE_BYTES));
    if (server.clients.size >= MAX_CONSOLES) {
      throw new DomainError(
        'exhausted',
        'too_many_consoles',
        `An agent has at most ${MAX_CONSOLES} consoles.`,
      );
    }
    const { program, env } = this.environment();
    server.handleUpgrade(request, socket, head, (client) => attach(client, program, env, size));
  }

  /** Closes all consoles. */
  async close(): Promise<void> {
    for (const client of (await this.#server)?.clients ?? [])
      client.close(GOING_AWAY, 'The agent is shutting down.');
  }
}

/** `GET /v1/console?cols=&rows=` */
export const consoleRoutes = (consoles: Consoles): readonly UpgradeRoute[] => [
  {
    ...GUEST_ROUTES.console,
    upgrade: async (request, socket, head) => {
      const { searchParams } = new URL(request.url ?? '/', 'http://guest');
      const size = { cols: Number(searchParams.get('cols')), rows: Number(searchParams.get('rows')) };
      await consoles.open(request, socket, head, size);
    },
  },
];

const attach = (
  client: WebSocket,
  program: PutProgram,
  env: Readonly<Record<string, string>>,
  size: TerminalSize,
): void => {
  const terminal = new Terminal(program, env, size, {
    onData: (bytes) => {
      if (client.bufferedAmount <= HIGH_WATER_BYTES) return client.send(bytes, { binary: true });
      terminal.pause();
      client.send(bytes, { binary: true }, () => terminal.resume());
    },
    onEnd: (exitCode) => client.close(NORMAL_CLOSURE, `The shell exited with code ${exitCode}.`),
  });
  client.on('message', (data, isBinary) => {
    if (!isBinary) return resize(terminal, data);
    terminal.write(toBuffer(data));
    if (terminal.unread <= HIGH_WATER_BYTES) return;
    client.pause();
    whenDrained(terminal, client, () => client.resume());
  });
  client.on('error', () => client.terminate());
  client.on('close', () => terminal.end());
};

/** A terminal does not notify when its shell has read its input, so poll while input is pending. */
const whenDrained = (terminal: Terminal, client: WebSocket, onDrained: () => void): void => {
  const timer = setInterval(() => {
    if (client.readyState === client.OPEN && terminal.unread > HIGH_WATER_BYTES) return;
    clearInterval(timer);
    onDrained();
  }, POLL_EVERY_MS);
};

/** Ignores messages that are not a valid size, because newer clients may send other kinds. */
const resize = (terminal: Terminal, data: RawData): void => {
  try {
    const message = JSON.parse(toBuffer(data).toString('utf8')) as Partial<TerminalSize> & { type?: unknown };
    const { type, cols = 0, rows = 0 } = message;
    if (type === 'resize' && isSize({ cols, rows })) terminal.resize({ cols, rows });
  } catch {
    // Not JSON, or not an object.
  }
};
