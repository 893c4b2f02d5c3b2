import { detach } from '@berth/kernel';
import type { AgentRef as AgentRequest } from '@berth/contracts/agents';
import { Injectable } from '@nestjs/common';
import { AgentIdentities } from '../personal-data/agent-identities.js';
import { Reservations } from '../reservation/reservations.js';
import { AgentCommandHandler } from './agent.command-handler.js';
import { AgentLifecycle } from './agent-lifecycle.js';
import { allClaimsOf } from './claims.js';
import { ofAccount } from './ensure-awake.js';
import { inTurns } from './turns.js';

/** Deletes agents: decides, then releases the names; the removal from the host continues in the background. */
@Injectable()
export class AgentDeletion {
  readonly #turns = inTurns();

  constructor(
    private readonly agents: AgentCommandHandler,
    private readonly lifecycle: AgentLifecycle,
    private readonly reservations: Reservations,
    private readonly identities: AgentIdentities,
  ) {}

  /** Once it resolves, every read returns not found and the name is free. */
  delete(request: AgentRequest): Promise<void> {
    return this.#turns(() => this.deleteNow(request));
  }

  private async deleteNow(request: AgentRequest): Promise<void> {
    const { agentId } = request;
    const { profile } = ofAccount(await this.agents.load(agentId), request.accountId);
    const identity = await this.identities.of(agentId, profile.personal);
    await this.agents.handle(agentId, { type: 'RequestDeletion', at: new Date().toISOString() }, request);
    for (const claim of allClaimsOf(profile, identity))
      await this.reservations.release(claim, { agentId, attempt: null }, request);
    detach(this.lifecycle.drive(agentId));
  }
}
