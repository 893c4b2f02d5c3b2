import { CommandHandler, type EventStore, type ProjectionRunner } from '@berth/event-store';
import type { Actor } from '@berth/kernel';
import type { AgentCommand } from './agent.commands.js';
import { agentDecider } from './agent.decider.js';
import { agentCodec } from './agent.events.js';
import type { Agent, AgentEvent } from './agent.js';

/** Who a command is from and what it is called: the same `commandId` acts once. */
export interface CommandOrigin {
  readonly commandId: string;
  readonly accountId: string;
  readonly actor: Actor;
}

/** Commands that the service gives itself: what a host reported, what a timer found. */
export const systemOrigin = (accountId: string, commandId: string): CommandOrigin => ({
  commandId,
  accountId,
  actor: { kind: 'system', id: 'agents' },
});

/** Decides about one agent and answers once the agent list shows what was decided. */
export class AgentCommandHandler {
  private readonly handler: CommandHandler<Agent, AgentCommand, AgentEvent>;

  constructor(
    store: EventStore,
    private readonly agentList: ProjectionRunner,
  ) {
    this.handler = new CommandHandler({ store, decider: agentDecider, codec: agentCodec, cacheSize: 5_000 });
  }

  async load(agentId: string): Promise<Agent> {
    return (await this.handler.load(agentId)).state;
  }

  async handle(agentId: string, command: AgentCommand, origin: CommandOrigin): Promise<Agent> {
    const { state, position } = await this.handler.handle(agentId, command, origin);
    // Past two seconds the answer is given anyway; the projection counts it.
    if (position !== null) await this.agentList.waitFor(position);
    return state;
  }
}
