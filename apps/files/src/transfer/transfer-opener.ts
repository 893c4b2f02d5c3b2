import { agentUnavailable, AgentClient } from '@berth/agent-client';
import type { AwakeAgent } from '@berth/contracts/agents';
import {
  FILE_LIMIT_BYTES,
  type OpenDownload,
  type OpenedStage,
  type OpenedTransfer,
  type OpenList,
  type OpenTransfer,
  pathProblem,
} from '@berth/contracts/files';
import { runtimeRequests, type Transfer } from '@berth/contracts/runtime';
import { effectOf, isDomainError, newId } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';
import { useOf } from '../agent-target.js';
import { downloadReach } from './transfer-policy.js';

/** Obtains tickets for transfers between the gateway and an agent's host; the host issues them. */
@Injectable()
export class TransferOpener {
  constructor(
    private readonly agents: AgentClient,
    private readonly requester: Requester,
  ) {}

  async list(request: OpenList): Promise<OpenedTransfer> {
    const { path } = request;
    if (path !== null) await this.checkPath(request, path);
    return ticketOnly(await this.open(request, { kind: 'list', path }));
  }

  async download(request: OpenDownload): Promise<OpenedTransfer> {
    const { path, actor } = request;
    await this.checkPath(request, path);
    const within = downloadReach(actor);
    const transfer = { kind: 'download', path, within, limitBytes: FILE_LIMIT_BYTES } as const;
    return ticketOnly(await this.open(request, transfer));
  }

  async stage(request: OpenTransfer): Promise<OpenedStage> {
    const stagedId = newId('stg');
    const transfer = { kind: 'stage', stagedId, limitBytes: FILE_LIMIT_BYTES } as const;
    const { endUserId, ...opened } = await this.open(request, transfer);
    return { ...opened, staged: { stagedId, endUserId, host: opened.host, epoch: opened.epoch } };
  }

  /** Throws for an invalid path without waking the agent. If there is no such agent, throws that error instead. */
  private async checkPath(request: OpenTransfer, path: string): Promise<void> {
    const problem = pathProblem(path);
    if (problem === undefined) return;
    await this.agents.locate(request.accountId, request.agentId);
    throw problem;
  }

  private async open(
    request: OpenTransfer,
    transfer: Transfer,
  ): Promise<OpenedTransfer & { readonly host: string; readonly endUserId: string | null }> {
    const use = useOf(request);
    const awake = await this.agents.wake(use, request.refusedEpoch);
    const openAt = async ({ agentId, endUserId = null, host, epoch }: AwakeAgent) => {
      const { url, ticket } = await this.ticket({ agentId, host, epoch }, transfer);
      return { url, ticket, epoch, host, endUserId };
    };
    return this.agents.withAwakeAgent(use, openAt, { awake });
  }

  private async ticket(
    { agentId, host, epoch }: Pick<AwakeAgent, 'agentId' | 'host' | 'epoch'>,
    transfer: Transfer,
  ): Promise<{ url: string; ticket: string }> {
    try {
      return await this.requester.request(
        runtimeRequests.openTransfer,
        { agentId, epoch, transfer },
        { host },
      );
    } catch (error) {
      // The host may have issued a ticket that never arrived; it expires unused, so the caller may try again.
      const isOutage = isDomainError(error, 'unavailable') || isDomainError(error, 'timeout');
      if (isOutage && effectOf(error) !== 'none')
        throw agentUnavailable('The agent cannot be reached; try again.', error);
      throw error;
    }
  }
}

const ticketOnly = ({ url, ticket, host, epoch }: Required<OpenedTransfer>): OpenedTransfer => ({
  url,
  ticket,
  host,
  epoch,
});
