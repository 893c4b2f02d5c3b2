import type { AnnounceHost } from '@berth/contracts/hosting';
import { EventStore } from '@berth/event-store';
import { DomainError } from '@berth/kernel';
import { logIdentity } from '@berth/messaging';
import { Injectable } from '@nestjs/common';
import { HostCommandHandler } from './host.command-handler.js';
import { HostDirectory, type Sighting } from './host-directory.js';
import { Placement } from './placement.js';

/** Records hosts that announce themselves, with what they report about themselves. */
@Injectable()
export class HostRegistration {
  constructor(
    private readonly hosts: HostCommandHandler,
    private readonly directory: HostDirectory,
    private readonly placement: Placement,
    private readonly store: EventStore,
  ) {}

  /**
   * Returns the identity of the event log, and what was known of the host before. Errors: conflict `other_event_log`,
   * `host_removed`.
   */
  async register(announcement: AnnounceHost): Promise<Sighting & { readonly logId: string }> {
    const { host, agents, figures = null } = announcement;
    const logId = await this.requireSameLog(announcement);
    await this.hosts.join(host, figures?.name ?? host);
    const sighting = await this.directory.record({ ...announcement, figures });
    // An agent that is starting has not taken its memory yet.
    const reported = agents.filter(({ state }) => state !== 'starting');
    await this.placement.reported(
      host,
      reported.map(({ agentId }) => agentId),
    );
    return { logId, ...sighting };
  }

  /** A host of another installation would lose all of its agents, because this log knows none of them. */
  private async requireSameLog({ host, logId }: AnnounceHost): Promise<string> {
    const own = await logIdentity(this.store);
    if ((logId ?? own) === own) return own;
    throw new DomainError(
      'conflict',
      'other_event_log',
      `The agents of ${host} belong to an installation with another event log.`,
    );
  }
}
