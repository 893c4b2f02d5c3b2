import type { AgentRef as AgentRequest } from '@berth/contracts/agents';
import type { Reservations } from '../reservation/reservations.js';
import type { AgentCommandHandler } from './agent.command-handler.js';
import type { AgentLifecycle } from './agent-lifecycle.js';
import { claimsOf } from './claims.js';
import { ofAccount } from './ensure-awake.js';

/** Deletes agents: the decision first, then the names; the removal itself goes on behind the answer. */
export class AgentDeletion {
  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly lifecycle: AgentLifecycle,
    private readonly reservations: Reservations,
  ) {}

  /** From the answer on every read is not found and the name is free. */
  async delete(request: AgentRequest): Promise<void> {
    const { agentId } = request;
    const { profile } = ofAccount(await this.agents.load(agentId), request.accountId);
    await this.agents.handle(agentId, { type: 'RequestDeletion', at: new Date().toISOString() }, request);
    for (const claim of claimsOf(profile))
      await this.reservations.release(claim, { agentId, attempt: null }, request);
    void this.lifecycle.drive(agentId);
  }
}
