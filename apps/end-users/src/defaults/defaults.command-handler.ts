import type { SetDefaults } from '@berth/contracts/end-users';
import type { Policy } from '@berth/contracts/schema';
import { Clock, type CommandEnvelope } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { PoliciesInAgents } from '../policy/policies-in-agents.js';
import { DefaultsStreams } from './defaults.streams.js';

/** The defaults of accounts. They are in force once a command returns. */
@Injectable()
export class DefaultsCommandHandler {
  constructor(
    private readonly streams: DefaultsStreams,
    private readonly agents: PoliciesInAgents,
    private readonly clock: Clock,
  ) {}

  async set(command: SetDefaults): Promise<{ readonly policy: Policy }> {
    const { accountId, policy } = command;
    await this.agents.expectReachable(accountId);
    const decided = { type: 'Set', accountId, policy, now: this.clock.now() } as const;
    const { position } = await this.streams.handle(accountId, decided, command);
    if (position !== null) await this.agents.applyDefaults(accountId, policy, position);
    return { policy };
  }

  async delete(command: CommandEnvelope): Promise<Record<string, never>> {
    const { accountId } = command;
    await this.agents.expectReachable(accountId);
    const decided = { type: 'Remove', accountId, now: this.clock.now() } as const;
    const { position } = await this.streams.handle(accountId, decided, command);
    if (position !== null) await this.agents.applyDefaults(accountId, null, position);
    return {};
  }

  async get(accountId: string): Promise<{ readonly policy: Policy | null }> {
    return { policy: (await this.streams.load(accountId)).state.policy };
  }
}
