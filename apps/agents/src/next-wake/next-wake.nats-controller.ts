import { nextWakeRequests, type NoteNextWake, type OwnerOfAgent } from '@berth/contracts/agents';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { AgentCommandHandler } from '../agent/agent.command-handler.js';
import { ofAccount } from '../agent/ensure-awake.js';
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
  async ownerOf({
    accountId,
    agentId,
  }: {
    readonly accountId: string;
    readonly agentId: string;
  }): Promise<OwnerOfAgent> {
    const { profile } = ofAccount(await this.agents.load(agentId), accountId);
    return { endUserId: profile.personal.endUserId };
  }
}
