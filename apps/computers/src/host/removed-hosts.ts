import { agentsRequests } from '@berth/contracts/agents';
import { Clock } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';

const KEPT_MS = 2_000;

/** The hosts that an operator has removed, as `agents` decided: they take no orders, also if they return. */
@Injectable()
export class RemovedHosts {
  #read: { readonly at: number; readonly hosts: Promise<ReadonlySet<string>> } | undefined;

  constructor(
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly clock: Clock,
  ) {}

  /** At most two seconds old. Errors: unavailable `service_unavailable` while `agents` does not respond. */
  async current(): Promise<ReadonlySet<string>> {
    const now = this.clock.now();
    if (this.#read !== undefined && now - this.#read.at < KEPT_MS) return this.#read.hosts;
    const hosts = this.requester
      .request(agentsRequests.removedHosts, {})
      .then((removed) => new Set(removed.hosts));
    const read = { at: now, hosts };
    this.#read = read;
    hosts.catch(() => {
      if (this.#read === read) this.#read = undefined;
    });
    return hosts;
  }
}
