import type { OpenConsole, StreamTicket } from '@berth/contracts/exec';
import { DomainError } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { ExecutionHosts } from '../host/execution-host.js';
import { agentUnreachable } from '../submission/refusals.js';
import { judgeFailure } from '../submission/sending.js';
import { Wake } from '../submission/wake.js';

const MAX_REFUSALS = 5;

/** Opens a terminal in an agent; wakes the agent first. */
@Injectable()
export class OpenConsoleHandler {
  constructor(
    private readonly wake: Wake,
    private readonly hosts: ExecutionHosts,
  ) {}

  /** Errors: see `execRequests.openConsole`; unavailable `agent_unavailable`. */
  async handle(open: OpenConsole): Promise<StreamTicket & { readonly epoch: number }> {
    const { agentId, cols, rows } = open;
    let { refusedEpoch } = open;
    for (let refusals = 0; refusals < MAX_REFUSALS; refusals++) {
      const { host, epoch, guest } = await this.wake.awake(open, agentId, 'console', refusedEpoch);
      if (!guest.capabilities.includes('console')) throw consoleUnsupported();
      try {
        const ticket = await this.hosts.openTransfer(host, agentId, epoch, { kind: 'console', cols, rows });
        return { ...ticket, epoch };
      } catch (error) {
        if (judgeFailure(error) !== 'elsewhere') throw agentUnreachable(error);
        refusedEpoch = epoch;
      }
    }
    throw agentUnreachable();
  }
}

const consoleUnsupported = (): DomainError =>
  new DomainError(
    'unsupported',
    'console_unsupported',
    'The agent is too old for a console; use a new agent.',
  );
