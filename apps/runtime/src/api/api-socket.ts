import { once } from 'node:events';
import { lchown, rm, stat } from 'node:fs/promises';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { API_SOCKET } from '@berth/guest-protocol';
import { CONNECTIONS, openSocketPath, shareOfDescriptors, type SocketPath } from '@berth/sockets';
import { LlmCalls, type Hold } from './llm-calls.js';

/** Connections of all agents of the host together, and of one agent: one alone cannot take those of the others. */
export const MOST_CONNECTIONS = shareOfDescriptors(CONNECTIONS.agentApi);
const MOST_OF_ONE_AGENT = Math.min(256, Math.ceil(MOST_CONNECTIONS / 4));

/** Berth's API as one agent reaches it. */
export interface AgentApi {
  /** Call when the agent wakes: its requests continue, and each LLM call that is open is passed to `hold`. */
  wake(hold: Hold): void;
  /** Call before the agent is frozen or ended: its next requests wait for the wake. */
  rest(): void;
  /** Ends all connections and removes the socket. */
  close(): Promise<void>;
}

/**
 * The Unix socket on which an agent's guest reaches the API. Its folder belongs to the guest, whose user alone can enter
 * it: that is the access control.
 */
export class ApiSocket implements AgentApi {
  readonly calls = new LlmCalls();
  readonly #connections = new Set<Socket>();
  #rest: PromiseWithResolvers<void> | undefined;

  private constructor(
    private readonly server: Server,
    private readonly at: SocketPath,
  ) {}

  /** Listens in `folder`, which a guest owns; `onConnection` gets every connection. Errors: those of the file system. */
  static async open(
    folder: string,
    onConnection: (connection: Socket, socket: ApiSocket) => void,
  ): Promise<ApiSocket> {
    const path = join(folder, API_SOCKET);
    // An earlier process of this host has left its socket behind.
    await rm(path, { force: true });
    const at = await openSocketPath(path);
    const server = createServer({ allowHalfOpen: true });
    server.maxConnections = MOST_OF_ONE_AGENT;
    const socket = new ApiSocket(server, at);
    server.on('connection', (connection: Socket) => {
      socket.#connections.add(connection);
      connection.once('close', () => socket.#connections.delete(connection));
      onConnection(connection, socket);
    });
    try {
      server.listen(at.path);
      await once(server, 'listening');
      await giveToOwnerOf(folder, path);
      return socket;
    } catch (error) {
      await socket.close();
      throw error;
    }
  }

  /** Resolves at once unless the agent is frozen or ending; then with its wake or its end. */
  async resumed(): Promise<void> {
    await this.#rest?.promise;
  }

  wake(hold: Hold): void {
    this.calls.keepAwake(hold);
    this.#resume();
  }

  rest(): void {
    this.calls.release();
    this.#rest ??= Promise.withResolvers<void>();
  }

  async close(): Promise<void> {
    const closed = this.server.listening ? once(this.server, 'close') : undefined;
    this.server.close();
    for (const connection of this.#connections) connection.destroy();
    this.#resume();
    await closed;
    await this.at.release();
  }

  #resume(): void {
    this.#rest?.resolve();
    this.#rest = undefined;
  }
}

/** Whoever may write to a socket can connect to it. A link in its place is not followed: the guest can write here. */
const giveToOwnerOf = async (folder: string, path: string): Promise<void> => {
  const { uid, gid } = await stat(folder);
  if (uid !== process.getuid?.()) await lchown(path, uid, gid);
};
