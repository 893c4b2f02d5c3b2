import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually, freePort } from '@berth/testing';

interface Ports {
  readonly client: number;
  readonly route: number;
  readonly monitor: number;
}

/** One nats-server of a cluster. */
export class BrokerNode {
  #child: ChildProcess;

  constructor(
    private readonly configFile: string,
    private readonly ports: Ports,
  ) {
    this.#child = this.#spawn();
  }

  /** Starts the node again on the files that it had when it ended. */
  restart(): void {
    this.#child = this.#spawn();
  }

  get address(): string {
    return `127.0.0.1:${String(this.ports.client)}`;
  }

  async connections(): Promise<number> {
    const varz = (await (await fetch(this.#monitor('varz'))).json()) as { readonly connections: number };
    return varz.connections;
  }

  /** Throws until JetStream has a leader for the whole cluster. */
  async ready(size: number): Promise<void> {
    const health = await fetch(this.#monitor('healthz'));
    if (!health.ok) throw new Error(`A broker is not healthy: ${await health.text()}`);
    const jetStream = (await (await fetch(this.#monitor('jsz'))).json()) as {
      readonly meta_cluster?: { readonly leader?: string; readonly cluster_size: number };
    };
    const { leader = '', cluster_size: known = 0 } = jetStream.meta_cluster ?? {};
    if (leader === '' || known < size) throw new Error('The brokers have no leader yet.');
  }

  signal(name: NodeJS.Signals): void {
    this.#child.kill(name);
  }

  async end(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const exited = once(this.#child, 'exit');
    this.#child.kill('SIGKILL');
    await exited;
  }

  #spawn(): ChildProcess {
    return spawn('nats-server', ['-c', this.configFile], { stdio: 'ignore' });
  }

  #monitor(path: string): string {
    return `http://127.0.0.1:${String(this.ports.monitor)}/${path}`;
  }
}

/** Real nats-servers that form one JetStream cluster, configured as described in docs/operations.md. */
export class BrokerCluster {
  private constructor(readonly nodes: readonly BrokerNode[]) {}

  static async start(folder: string, size: number): Promise<BrokerCluster> {
    const ports: Ports[] = [];
    for (let node = 0; node < size; node++)
      ports.push({ client: await freePort(), route: await freePort(), monitor: await freePort() });
    const routes = ports.map(({ route }) => `nats://127.0.0.1:${String(route)}`);
    const nodes = ports.map((own, index) => {
      const home = join(folder, `broker-${String(index)}`);
      mkdirSync(home, { recursive: true });
      const file = join(home, 'nats.conf');
      writeFileSync(file, configOf(own, `broker-${String(index)}`, home, routes));
      return new BrokerNode(file, own);
    });
    const cluster = new BrokerCluster(nodes);
    await cluster.ready();
    return cluster;
  }

  /** Waits until JetStream has a leader and every node is a member. */
  async ready(): Promise<void> {
    await eventually(() => Promise.all(this.nodes.map((node) => node.ready(this.nodes.length))), {
      timeoutMs: 30_000,
    });
  }

  /** Lists all nodes, so that clients spread over them. */
  get url(): string {
    return this.nodes.map(({ address }) => `nats://${address}`).join(',');
  }

  /** The node with the most client connections. */
  async busiest(): Promise<BrokerNode> {
    const counted = await Promise.all(
      this.nodes.map(async (node) => ({ node, connections: await node.connections() })),
    );
    const [first] = counted.toSorted((one, other) => other.connections - one.connections);
    if (first === undefined || first.connections === 0) throw new Error('No client is connected.');
    return first.node;
  }

  async stop(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.end()));
  }
}

const configOf = ({ client, route, monitor }: Ports, name: string, home: string, routes: readonly string[]) =>
  [
    'host: "127.0.0.1"',
    `port: ${String(client)}`,
    `http: "127.0.0.1:${String(monitor)}"`,
    `server_name: ${name}`,
    'max_payload: 8MB',
    'ping_interval: "2s"',
    'ping_max: 2',
    `jetstream { store_dir: ${JSON.stringify(home)} }`,
    `cluster { name: berth, listen: "127.0.0.1:${String(route)}", routes: [${routes.join(', ')}] }`,
    '',
  ].join('\n');
