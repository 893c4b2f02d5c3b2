import { runtimeRequests } from '@berth/contracts/runtime';
import { isDomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import type { LiveComputer } from '../computer/computer.js';
import { startOf, thawOf } from '../computer/start-recipe.js';
import { RemovedHosts } from './removed-hosts.js';

/** A computer at one epoch on one host. */
export interface Placed {
  readonly computerId: string;
  readonly epoch: number;
  readonly host: string;
}

/**
 * The requests to hosts that carry out transitions. Each has the epoch of its decision, so any process may send it, twice
 * or after a crash.
 */
@Injectable()
export class ComputerHosts {
  constructor(
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly removed: RemovedHosts,
  ) {}

  /** Returns once the desktop is ready. Errors: those of `runtimeRequests.start`. */
  async start(computer: LiveComputer, deadline: string): Promise<void> {
    const request = startOf(computer, deadline, Date.now());
    await this.requester.request(runtimeRequests.start, request, { host: computer.host });
  }

  /** Returns false when the host has no frozen processes of the computer any more. */
  async thaw(computer: LiveComputer): Promise<boolean> {
    try {
      await this.requester.request(runtimeRequests.thaw, thawOf(computer), { host: computer.host });
      return true;
    } catch (error) {
      if (isDomainError(error) && GONE.has(error.code)) return false;
      throw error;
    }
  }

  /** `overtaken`: a later start or stop has won. `gone`: the host has no processes of the computer. */
  async freeze({ computerId: agentId, epoch, host }: Placed): Promise<'frozen' | 'overtaken' | 'gone'> {
    try {
      await this.requester.request(runtimeRequests.freeze, { agentId, epoch }, { host });
      return 'frozen';
    } catch (error) {
      if (isDomainError(error) && error.code === 'stale_epoch') return 'overtaken';
      if (isDomainError(error) && GONE.has(error.code)) return 'gone';
      throw error;
    }
  }

  async stop({ computerId: agentId, epoch, host }: Placed): Promise<void> {
    await this.requester.request(runtimeRequests.stop, { agentId, epoch }, { host });
  }

  /** Removes what the host has of the computer; nothing is left to remove on a host that was removed itself. */
  async remove({ computerId: agentId, host }: Pick<Placed, 'computerId' | 'host'>): Promise<void> {
    if ((await this.removed.current()).has(host)) return;
    await this.requester.request(runtimeRequests.remove, { agentId }, { host });
  }

  /** Closes the sockets of viewers; null: those of all sessions. */
  async closeViewers(
    { computerId: agentId, host }: Pick<Placed, 'computerId' | 'host'>,
    sessionIds: readonly string[] | null,
  ): Promise<void> {
    await this.requester.request(runtimeRequests.closeViewers, { agentId, sessionIds }, { host });
  }
}

const GONE: ReadonlySet<string> = new Set(['agent_not_frozen', 'agent_not_on_host']);
