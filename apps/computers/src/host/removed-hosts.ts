import { agentsRequests } from '@berth/contracts/agents';
import { Clock } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';

const KEPT_MS = 2_000;
/** Timers ask, which must not wait for another service. */
const ANSWERS_WITHIN_MS = 1_000;

/** The hosts that an operator has removed, as `agents` decided: they take no orders, also if they return. */
@Injectable()
export class RemovedHosts {
  #lastKnown: ReadonlySet<string> = new Set();
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
      .request(agentsRequests.removedHosts, {}, { deadlineMs: ANSWERS_WITHIN_MS })
      .then((removed) => (this.#lastKnown = new Set(removed.hosts)));
    const read = { at: now, hosts };
    this.#read = read;
    hosts.catch(() => {
      if (this.#read === read) this.#read = undefined;
    });
    return hosts;
  }

  /** As `current`, or the last that this process has heard of while `agents` does not respond. */
  lastKnown(): Promise<ReadonlySet<string>> {
    return this.current().catch(() => this.#lastKnown);
  }
}
