import type {
  CreateEnlisted,
  EndUserCommand,
  EndUserView,
  EnlistedEndUser,
  PutEndUser,
  PutEndUserResult,
} from '@berth/contracts/end-users';
import { Injectable } from '@nestjs/common';
import { AgentsOfEndUser } from '../agents-of-end-user.js';
import { ComputersOfEndUser } from '../computers-of-end-user.js';
import { EndUserViews } from '../end-user-list/end-user-views.js';
import { endUserNotFound } from './end-user.decider.js';
import { EndUserErasure } from './end-user-erasure.js';
import { EndUserStanding } from '../standing/end-user-standing.js';
import { EndUserWrites } from './end-user-writes.js';

@Injectable()
export class EndUserCommandHandler {
  constructor(
    private readonly writes: EndUserWrites,
    private readonly erasure: EndUserErasure,
    private readonly views: EndUserViews,
    private readonly standing: EndUserStanding,
    private readonly agents: AgentsOfEndUser,
    private readonly computers: ComputersOfEndUser,
  ) {}

  async put(command: PutEndUser): Promise<PutEndUserResult> {
    const agentCount = await this.countAgents(command);
    const { endUser, created } = await this.writes.put(command);
    return { endUser: await this.views.ofState(endUser, agentCount), created };
  }

  async enlist(command: EndUserCommand): Promise<EnlistedEndUser> {
    const { endUserId, personal } = await this.writes.enlist(command);
    return { endUserId, key: Buffer.from(personal.key.bytes).toString('base64') };
  }

  async createEnlisted(command: CreateEnlisted): Promise<Record<string, never>> {
    await this.writes.createEnlisted(command);
    return {};
  }

  suspend(command: EndUserCommand): Promise<EndUserView> {
    return this.change(command, 'Suspend');
  }

  resume(command: EndUserCommand): Promise<EndUserView> {
    return this.change(command, 'Resume');
  }

  /** Returns once nothing of the end user can be reached. */
  async delete(command: EndUserCommand): Promise<Record<string, never>> {
    const { state } = await this.writes.change(command, 'Delete');
    if (state.kind !== 'deleted') throw endUserNotFound();
    await this.erasure.run(state, command);
    return {};
  }

  private async change(command: EndUserCommand, type: 'Suspend' | 'Resume'): Promise<EndUserView> {
    const agentCount = await this.countAgents(command);
    const { state, revision, position } = await this.writes.change(command, type);
    if (state.kind !== 'live' || revision === null) throw endUserNotFound();
    await this.standing.record(state, revision);
    if (position !== null)
      await Promise.all([
        this.agents.setStanding(state, position),
        this.computers.setStanding(state, position),
      ]);
    return this.views.ofState(state, agentCount);
  }

  /** Precedes every change, so that one that is refused because `agents` cannot be reached has changed nothing. */
  private async countAgents({ accountId, externalId }: EndUserCommand): Promise<number> {
    return (await this.agents.count(accountId, [externalId])).get(externalId) ?? 0;
  }
}
