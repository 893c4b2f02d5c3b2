import { createSocket, type RemoteInfo, type Socket as UdpSocket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { detach } from '@berth/kernel';
import { isQuery, serverFailure } from './dns-message.js';
import { askByTcp, askByUdp, framed, framesOf } from './dns-upstream.js';
import type { HostResolvers } from './host-resolvers.js';
import type { ResolverPorts } from './rule-set.js';

/**
 * Bounds of what agents can make the host do: queries and connections at a time, of one address and of all. `reserved`: of
 * one address however many others there are, so that a few agents cannot use up the share of all.
 */
const BOUNDS = { ofOne: 64, ofAll: 1_024, reserved: 4 } as const;
const RESOLVER_RESPONDS_WITHIN_MS = 3_000;
const CONNECTION_IDLE_MS = 10_000;

/** Forwards the queries of agents to the host's resolvers, and nothing else. */
export class DnsForwarder {
  readonly #running = new Map<string, number>();
  readonly #connections = new Set<Socket>();
  readonly #end = new AbortController();
  #total = 0;

  private constructor(
    private readonly udp: UdpSocket,
    private readonly tcp: Server,
    private readonly resolvers: Pick<HostResolvers, 'current'>,
  ) {
    udp.on('message', (message, from) => detach(this.#onDatagram(message, from)));
    // If the agent is gone before its response, the resolver has not failed.
    udp.on('error', () => undefined);
    tcp.on('connection', (socket) => detach(this.#onConnection(socket)));
  }

  /** Listens on free ports of that address. */
  static async open(address: string, resolvers: Pick<HostResolvers, 'current'>): Promise<DnsForwarder> {
    const udp = createSocket('udp4').bind(0, address);
    const tcp = createServer().listen(0, address);
    await Promise.all([once(udp, 'listening'), once(tcp, 'listening')]);
    return new DnsForwarder(udp, tcp, resolvers);
  }

  get ports(): ResolverPorts {
    return { udp: this.udp.address().port, tcp: (this.tcp.address() as AddressInfo).port };
  }

  /** Any number of times. */
  async close(): Promise<void> {
    if (this.#end.signal.aborted) return;
    this.#end.abort();
    for (const socket of this.#connections) socket.destroy();
    const closed = [once(this.udp, 'close'), once(this.tcp, 'close')];
    this.udp.close();
    this.tcp.close();
    await Promise.all(closed);
  }

  async #onDatagram(message: Buffer, { address, port }: RemoteInfo): Promise<void> {
    if (!isQuery(message)) return;
    await this.#within(address, async () => {
      const response = await this.#ask(message, askByUdp);
      if (!this.#end.signal.aborted) this.udp.send(response, port, address);
    });
  }

  async #onConnection(socket: Socket): Promise<void> {
    this.#connections.add(socket);
    socket.on('error', () => undefined);
    socket.setTimeout(CONNECTION_IDLE_MS, () => socket.destroy());
    await this.#within(socket.remoteAddress ?? '', async () => {
      for await (const message of framesOf(socket)) {
        if (!isQuery(message)) break;
        socket.write(framed(await this.#ask(message, askByTcp)));
      }
    }).catch(() => undefined);
    socket.destroy();
    this.#connections.delete(socket);
  }

  /** Does nothing beyond the bounds: the agent asks again. */
  async #within(address: string, work: () => Promise<void>): Promise<void> {
    const running = this.#running.get(address) ?? 0;
    if (running >= (this.#total < BOUNDS.ofAll ? BOUNDS.ofOne : BOUNDS.reserved)) return;
    this.#running.set(address, running + 1);
    this.#total++;
    try {
      await work();
    } finally {
      this.#total--;
      const left = (this.#running.get(address) ?? 1) - 1;
      if (left === 0) this.#running.delete(address);
      else this.#running.set(address, left);
    }
  }

  /** Asks the host's resolvers one after the other. */
  async #ask(query: Buffer, ask: typeof askByUdp): Promise<Buffer> {
    for (const resolver of await this.resolvers.current().catch(() => [])) {
      const late = AbortSignal.timeout(RESOLVER_RESPONDS_WITHIN_MS);
      try {
        return await ask(query, resolver, AbortSignal.any([late, this.#end.signal]));
      } catch {
        if (this.#end.signal.aborted) break;
      }
    }
    return serverFailure(query);
  }
}
