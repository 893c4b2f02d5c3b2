import { brokerOf, NatsLink, UnfitBroker } from '@berth/messaging';
import { ServiceContext } from '@berth/service';
import { pause } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable, type BeforeApplicationShutdown, type OnApplicationBootstrap } from '@nestjs/common';
import { HostedAgents } from '../agent/hosted-agents.js';
import { RuntimeConfig } from '../config.js';

const EVERY_MS = 5_000;
/** An operator may change the credential on the broker first; that must not end agents. */
const REFUSED_FOR_MS = 60_000;
/** Delay between TERM and KILL. */
const GRACE_MS = 2_000;

/**
 * Ends the agents of this host once the broker has refused the host's credential for a minute: an operator has revoked
 * it. A broker that does not respond refuses nothing, so a host that is cut off keeps its agents.
 */
@Injectable()
export class RevokedCredential implements OnApplicationBootstrap, BeforeApplicationShutdown {
  #watching: Promise<void> | undefined;

  constructor(
    private readonly agents: HostedAgents,
    private readonly config: RuntimeConfig,
    private readonly link: NatsLink,
    private readonly context: ServiceContext,
    private readonly log: Logger,
  ) {}

  onApplicationBootstrap(): void {
    this.context.afterStart(() => {
      this.#watching = this.watch(this.context.stopping);
    });
  }

  async beforeApplicationShutdown(): Promise<void> {
    await this.#watching;
  }

  private async watch(signal: AbortSignal): Promise<void> {
    let refusedSince: number | undefined;
    while (!signal.aborted) {
      await pause(EVERY_MS, signal);
      if (signal.aborted || this.link.connected || !(await this.isRefused())) refusedSince = undefined;
      else refusedSince ??= performance.now();
      if (refusedSince !== undefined && performance.now() - refusedSince >= REFUSED_FOR_MS)
        await this.endAgents();
    }
  }

  private async isRefused(): Promise<boolean> {
    try {
      const probe = { ...brokerOf(this.config), name: this.context.name, log: this.log, openWithinMs: 0 };
      await (await NatsLink.open(probe)).close();
      return false;
    } catch (error) {
      return error instanceof UnfitBroker;
    }
  }

  private async endAgents(): Promise<void> {
    const ended = await this.agents.endAll(GRACE_MS);
    if (ended.length > 0)
      this.log.error(
        { agents: ended.length },
        'The broker has refused the credential of this host for a minute: its agents have been ended.',
      );
  }
}
