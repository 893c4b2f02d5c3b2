import gossipService from '@eventstore/db-client/generated/gossip_grpc_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import { credentials, Metadata, type Channel } from '@grpc/grpc-js';
import { pause } from '@berth/supervision';
import { closeChannel, isAway, whenBack } from './esdb-channel.js';
import type { EsdbUrl } from './esdb-url.js';

const ATTEMPTS = 10;
const INTERVAL_MS = 100;

/**
 * Asks all nodes of the URL at once for the leader and uses the first response that names one. The client's own
 * discovery asks one node after the other, so that a frozen one delays it, and leaks a connection to each node that was
 * down.
 */
export class EsdbDiscovery {
  #pending: Promise<string> | undefined;
  /** Channels to nodes that are down. They cannot be closed before they have connected, so they are reused. */
  readonly #away = new Map<string, Channel>();

  constructor(private readonly url: EsdbUrl) {}

  /** Returns `host:port` of the leader, or of the only node in the URL. Throws when no leader is found in time. */
  findLeader(): Promise<string> {
    const [only = ''] = this.url.nodes;
    if (!this.url.isCluster) return Promise.resolve(only);
    this.#pending ??= this.#search().finally(() => (this.#pending = undefined));
    return this.#pending;
  }

  async #search(): Promise<string> {
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      try {
        return await Promise.any(this.url.nodes.map((node) => this.#ask(node)));
      } catch {
        await pause(INTERVAL_MS);
      }
    }
    throw new Error('No node of the event log knows the leader.');
  }

  async #ask(node: string): Promise<string> {
    const channel = this.#away.get(node) ?? this.url.channel(node);
    try {
      return leaderAmong(await readGossip(node, channel, this.url.gossipTimeoutMs));
    } finally {
      this.#release(node, channel);
    }
  }

  #release(node: string, channel: Channel): void {
    if (!isAway(channel)) {
      if (this.#away.get(node) === channel) this.#away.delete(node);
      channel.close();
    } else if (!this.#away.has(node)) {
      this.#away.set(node, channel);
      whenBack(channel, () => this.#connected(node, channel));
    } else if (this.#away.get(node) !== channel) closeChannel(channel);
  }

  #connected(node: string, channel: Channel): void {
    if (this.#away.get(node) !== channel) return;
    this.#away.delete(node);
    closeChannel(channel);
  }
}

const readGossip = (node: string, channelOverride: Channel, timeoutMs: number): Promise<gossip.ClusterInfo> =>
  new Promise((resolve, reject) => {
    const client = new gossipService.GossipClient(node, credentials.createInsecure(), { channelOverride });
    client.read(new shared.Empty(), new Metadata(), { deadline: Date.now() + timeoutMs }, (error, info) =>
      error ? reject(error) : resolve(info),
    );
  });

const leaderAmong = (info: gossip.ClusterInfo): string => {
  const { LEADER } = gossip.MemberInfo.VNodeState;
  const leader = info.getMembersList().find((member) => member.getIsAlive() && member.getState() === LEADER);
  const endPoint = leader?.getHttpEndPoint();
  if (endPoint === undefined) throw new Error('This node does not know the leader.');
  return `${endPoint.getAddress()}:${endPoint.getPort()}`;
};
