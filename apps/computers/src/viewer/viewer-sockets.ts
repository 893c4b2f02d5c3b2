import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { ComputerHosts } from '../host/computer-hosts.js';

/** The open sockets of viewers, which end with their sessions. */
@Injectable()
export class ViewerSockets {
  constructor(
    private readonly hosts: ComputerHosts,
    private readonly log: Logger,
  ) {}

  /** A host that does not respond has no way to show anything either; the gateway closes its own end. */
  async close(computerId: string, host: string, sessionIds: readonly string[]): Promise<void> {
    if (sessionIds.length === 0) return;
    await this.hosts
      .closeViewers({ computerId, host }, sessionIds)
      .catch((error: unknown) =>
        this.log.warn({ computerId, err: error }, 'the host could not close the sockets of viewers'),
      );
  }
}
