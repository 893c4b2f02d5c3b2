import { AgentClient, isStaleEpoch } from '@berth/agent-client';
import type { AwakeAgent } from '@berth/contracts/hosting';
import type { OpenConsole, StreamTicket } from '@berth/contracts/exec';
import { DomainError } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { ExecutionHosts } from '../host/execution-host.js';
import { agentUnreachable } from '../submission/refusals.js';
import { judgeFailure } from '../submission/sending.js';

/** Opens a terminal in an agent; wakes the agent first. */
@Injectable()
export class OpenConsoleHandler {
  constructor(
    private readonly agents: AgentClient,
    private readonly hosts: ExecutionHosts,
  ) {}

  /** Errors: see `execRequests.openConsole`; unavailable `agent_unavailable`. */
  async handle(open: OpenConsole): Promise<StreamTicket & { readonly epoch: number }> {
    const use = { envelope: open, agentId: open.agentId, kind: 'console' } as const;
    const awake = await this.agents.wake(use, open.refusedEpoch);
    return this.agents.withAwakeAgent(use, (agent) => this.openAt(agent, open), { awake });
  }

  private async openAt(
    { host, epoch, guest }: AwakeAgent,
    { agentId, cols, rows }: OpenConsole,
  ): Promise<StreamTicket & { readonly epoch: number }> {
    if (!guest.capabilities.includes('console')) throw consoleUnsupported();
    try {
      const ticket = await this.hosts.openTransfer(host, agentId, epoch, { kind: 'console', cols, rows });
      return { ...ticket, host, epoch };
    } catch (error) {
      throw isStaleEpoch(error) || judgeFailure(error) === 'unreached' ? error : agentUnreachable(error);
    }
  }
}

const consoleUnsupported = (): DomainError =>
  new DomainError(
    'unsupported',
    'console_unsupported',
    'The agent is too old for a console; use a new agent.',
  );
