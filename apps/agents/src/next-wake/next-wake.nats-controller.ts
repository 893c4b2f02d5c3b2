import { nextWakeRequests, type NoteNextWake, type OwnerOfAgent } from '@berth/contracts/agents';
import { DomainError } from '@berth/kernel';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { AgentCommandHandler } from '../agent/agent.command-handler.js';
import { NextWakes } from './next-wakes.js';

@Controller()
export class NextWakeNatsController {
  constructor(
    private readonly nextWakes: NextWakes,
    private readonly agents: AgentCommandHandler,
  ) {}

  @HandleRequest(nextWakeRequests.note)
  async note(note: NoteNextWake): Promise<Record<string, never>> {
    await this.nextWakes.note(note);
    return {};
  }

  @HandleRequest(nextWakeRequests.ownerOf)
  async ownerOf({ agentId }: { readonly agentId: string }): Promise<OwnerOfAgent> {
    const agent = await this.agents.load(agentId);
    if (agent.status !== 'live')
      throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
    const { accountId, personal } = agent.profile;
    return { accountId, endUserId: personal.endUserId };
  }
}
