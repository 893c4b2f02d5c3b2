import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startClusterStandIn, type ClusterStandIn, type Member } from '@berth/embedded';
import { TcpProxy } from './tcp-proxy.js';

const HOST = '127.0.0.1';
const NODES = 3;

/**
 * Three nodes on one event log, one of them the leader, each behind a proxy that can cut and freeze it. Every node
 * reports the leader that the test elected.
 */
export class EventStoreCluster {
  #leader = 0;
  readonly #dead = new Set<number>();

  private constructor(
    private readonly standIn: ClusterStandIn,
    readonly nodes: readonly TcpProxy[],
    private readonly folder: string,
  ) {}

  static async start(): Promise<EventStoreCluster> {
    const folder = await mkdtemp(join(tmpdir(), 'berth-cluster-'));
    // The nodes request their view only after the cluster has been created.
    const seen: { cluster?: EventStoreCluster } = {};
    const standIn = await startClusterStandIn({
      file: join(folder, 'events.db'),
      count: NODES,
      view: {
        leader: () => seen.cluster?.leader ?? 0,
        members: () => seen.cluster?.members ?? [],
      },
    });
    const nodes = await Promise.all(standIn.ports.map((port) => TcpProxy.start(port)));
    return (seen.cluster = new EventStoreCluster(standIn, nodes, folder));
  }

  /** The URL of all nodes, in the form that operators should use. */
  get url(): string {
    return `esdb://${this.nodes.map(({ port }) => `${HOST}:${port}`).join(',')}?tls=false`;
  }

  get leader(): number {
    return this.#leader;
  }

  get leaderProxy(): TcpProxy {
    return this.node(this.#leader);
  }

  get servedByFollowers(): number {
    return this.standIn.servedByFollowers;
  }

  /** Open connections to all nodes, summed up. */
  get connections(): number {
    return this.nodes.reduce((sum, { connections }) => sum + connections, 0);
  }

  get members(): readonly Member[] {
    return this.nodes.map(({ port }, index) => ({
      host: HOST,
      port,
      state: index === this.#leader ? 'leader' : 'follower',
      alive: !this.#dead.has(index),
    }));
  }

  node(index: number): TcpProxy {
    const node = this.nodes[index % NODES];
    if (node === undefined) throw new Error('There is no such node.');
    return node;
  }

  /** Makes another node the leader; the previous one continues as a follower, or counts as dead. */
  elect(
    next = (this.#leader + 1) % NODES,
    { before = 'follower' }: { before?: 'follower' | 'dead' } = {},
  ): void {
    if (before === 'dead') this.#dead.add(this.#leader);
    this.#dead.delete(next);
    this.#leader = next;
  }

  /** Heals every node; the leader stays the leader. */
  heal(): void {
    this.#dead.clear();
    for (const node of this.nodes) node.restore();
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop()));
    await this.standIn.close();
    await rm(this.folder, { recursive: true, force: true });
  }
}
