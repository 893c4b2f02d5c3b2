import { freePort, NatsServerFixture } from './nats-server.fixture.js';

/** Several nats-servers of one cluster. A client stays with the servers that its URL names. */
export class NatsCluster {
  private constructor(readonly servers: readonly NatsServerFixture[]) {}

  static async start(names: readonly string[]): Promise<NatsCluster> {
    const ports = await Promise.all(names.map(() => freePort()));
    const listen = ports.map((port) => `nats://127.0.0.1:${port}`);
    const servers = names.map((name, index) =>
      NatsServerFixture.start(
        ...['-n', name, '--cluster_name', 'pair', '--cluster', listen[index] ?? ''],
        ...['--routes', listen.filter((_, other) => other !== index).join(','), '--no_advertise'],
      ),
    );
    return new NatsCluster(await Promise.all(servers));
  }

  server(index: number): NatsServerFixture {
    const server = this.servers[index];
    if (server === undefined) throw new Error(`The cluster has no server ${index}.`);
    return server;
  }

  async stop(): Promise<void> {
    await Promise.all(this.servers.map((server) => server.stop()));
  }
}
