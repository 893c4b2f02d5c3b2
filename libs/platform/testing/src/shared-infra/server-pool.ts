import type { SharedServer } from './shared-server.js';

/** Servers of one kind. Each has at most one lease at a time, so there are as many as leases at the same time. */
export class ServerPool {
  readonly #idle: SharedServer[] = [];
  readonly #started = new Set<Promise<SharedServer>>();

  constructor(private readonly start: () => Promise<SharedServer>) {}

  /** Returns the URL of empty storage on a server that no other lease uses, and a function that releases it. */
  async take(): Promise<{ readonly url: string; release(): Promise<void> }> {
    const server = this.#idle.pop() ?? (await this.#startOne());
    const { url, remove } = await server.open();
    const release = async (): Promise<void> => {
      await remove();
      this.#idle.push(server);
    };
    return { url, release };
  }

  /** Stops every server, including those with a lease. */
  async stop(): Promise<void> {
    const servers = await Promise.allSettled(this.#started);
    await Promise.all(
      servers.map(async (one) => (one.status === 'fulfilled' ? await one.value.stop() : undefined)),
    );
  }

  #startOne(): Promise<SharedServer> {
    const server = this.start();
    this.#started.add(server);
    return server;
  }
}
