import type { Addressee } from '@berth/contracts/agents';
import { DomainError, isDomainError } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { Admission, ownerOf } from './admission.js';
import { AgentCommandHandler } from './agent.command-handler.js';

/** Whose agent an id names, and whether a suspension forbids its use. Read from the log, so that no call lags behind. */
@Injectable()
export class AddresseeQuery {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly admission: Admission,
  ) {}

  /** Errors: not_found `agent_not_found`. */
  async find(agentId: string): Promise<Addressee> {
    const agent = await this.agents.load(agentId);
    if (agent.status !== 'live')
      throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
    const owner = ownerOf(agent.profile);
    const suspended = await this.admission.admit('use', owner).then(
      () => null,
      (error: unknown) => suspensionIn(error),
    );
    return { accountId: owner.accountId, suspended };
  }
}

const suspensionIn = (error: unknown): Addressee['suspended'] => {
  if (isDomainError(error, 'forbidden')) {
    const { code } = error;
    if (code === 'account_suspended' || code === 'end_user_suspended') return code;
  }
  throw error;
};
