import { Agent, type AgentOptions, type ClientRequest, type ClientRequestArgs } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import type { OpenedApp } from '@berth/contracts/agents';
import { Injectable, type OnApplicationShutdown } from '@nestjs/common';
import { withFreshTicket, type Open } from '../hosts/fresh-ticket.js';
import { HostConnections } from '../hosts/host-connections.js';
import { dialApp } from './dial-app.js';

/**
 * How long an unused connection is kept for the next request. It keeps the agent awake, so this is much shorter than the
 * shortest idle time; and shorter than the keep-alive of common servers, so that these rarely close it first.
 */
const KEPT_MS = 1_000;
const MOST_KEPT_PER_APP = 32;

/** The program that a request is for. Connections are shared only within one account. */
export interface AppRef {
  readonly accountId: string;
  readonly agentId: string;
  readonly open: Open<OpenedApp>;
}

/** Options of `http.request` that are for this agent of Node's. */
export interface AppRequestArgs extends ClientRequestArgs {
  readonly app?: AppRef;
}

/** Connects Node's HTTP client to the programs of agents: each new connection costs one ticket. */
class AppAgent extends Agent {
  constructor(
    private readonly hosts: HostConnections,
    options: AgentOptions,
  ) {
    super(options);
  }

  override getName({ app }: AppRequestArgs = {}): string {
    return `${app?.accountId ?? ''}:${app?.agentId ?? ''}`;
  }

  override createConnection(
    { app }: AppRequestArgs,
    callback?: (error: Error | null, connection: Duplex) => void,
  ): undefined {
    if (app === undefined || callback === undefined) throw new Error('A request without an app.');
    withFreshTicket(app.open, (opened) => dialApp(this.hosts, opened)).then(
      (connection) => callback(null, connection),
      (error: unknown) => callback(error as Error, undefined as never),
    );
    return undefined;
  }

  override keepSocketAlive(socket: Socket): boolean {
    const isKept = super.keepSocketAlive(socket) as unknown as boolean;
    socket.setTimeout(KEPT_MS);
    return isKept;
  }

  override reuseSocket(socket: Socket, request: ClientRequest): void {
    super.reuseSocket(socket, request);
    socket.setTimeout(0);
  }
}

/** The connections of this gateway to the programs of agents. */
@Injectable()
export class AppConnections implements OnApplicationShutdown {
  /** Keeps connections for a moment. */
  readonly kept: AppAgent;
  /** Opens a connection for each request. */
  readonly fresh: AppAgent;

  constructor(hosts: HostConnections) {
    this.kept = new AppAgent(hosts, { keepAlive: true, maxFreeSockets: MOST_KEPT_PER_APP });
    this.fresh = new AppAgent(hosts, { keepAlive: false });
  }

  onApplicationShutdown(): void {
    this.kept.destroy();
    this.fresh.destroy();
  }
}
