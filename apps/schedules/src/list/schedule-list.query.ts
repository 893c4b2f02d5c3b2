import type { ListSchedules, ScheduleView } from '@berth/contracts/schedules';
import { Injectable } from '@nestjs/common';
import { OwnersOfAgents } from '../entries/owners-of-agents.js';
import { SealedPrompts } from '../entries/sealed-prompts.js';
import { ScheduleStreams } from '../schedule/schedule.streams.js';

/** The schedules of one agent, from its stream: a list has at most a hundred entries, and the prompts are sealed. */
@Injectable()
export class ScheduleListQuery {
  constructor(
    private readonly streams: ScheduleStreams,
    private readonly prompts: SealedPrompts,
    private readonly owners: OwnersOfAgents,
  ) {}

  /** Does not wake the agent. Errors: not_found `agent_not_found`. */
  async run({ accountId, agentId }: ListSchedules): Promise<{ readonly items: readonly ScheduleView[] }> {
    await this.owners.within(accountId, agentId);
    const { entries, source } = (await this.streams.load(agentId)).state;
    const items = entries.map(async ({ isRunAt: _isRunAt, prompt, ...entry }) => ({
      ...entry,
      prompt: await this.prompts.open(agentId, prompt),
      source,
    }));
    return { items: await Promise.all(items) };
  }
}
