import {
  runtimeRequests,
  type ChangeFile,
  type FileChange,
  type OpenTransfer,
  type TransferTicket,
} from '@berth/contracts/runtime';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { HostedAgents } from '../agent/hosted-agents.js';
import { DataPort } from './data-port.js';
import { Transfers } from './transfers.js';

/** NATS handlers for transfers, viewers and file changes. */
@Controller()
export class TransfersNatsController {
  constructor(
    private readonly agents: HostedAgents,
    private readonly transfers: Transfers,
    private readonly dataPort: DataPort,
  ) {}

  @HandleRequest(runtimeRequests.openTransfer)
  async open(request: OpenTransfer): Promise<TransferTicket> {
    return { url: this.dataPort.url, ticket: this.transfers.open(request) };
  }

  @HandleRequest(runtimeRequests.closeViewers)
  async closeViewers({
    agentId,
    sessionIds,
  }: {
    readonly agentId: string;
    readonly sessionIds: readonly string[] | null;
  }): Promise<Record<string, never>> {
    // The sockets of one that is not awake are closed.
    await this.agents.of(agentId).current.awake?.client.closeViewers(sessionIds);
    return {};
  }

  @HandleRequest(runtimeRequests.changeFile)
  async changeFile({ agentId, epoch, command }: ChangeFile): Promise<FileChange> {
    const guest = this.agents.of(agentId).openAt(epoch);
    return guest.during('file', ({ ending }) => guest.client.changeFile(command, ending));
  }
}
