import type {
  AgentCommand,
  AgentView,
  DeleteEnvVar,
  EnvVarView,
  LocateAgent,
  SetEnvVar,
} from '@berth/contracts-agents';
import { runtimeRequests } from '@berth/contracts-runtime';
import { CommandHandler, type EventStore } from '@berth/event-store';
import { DomainError } from '@berth/kernel';
import type { Requester } from '@berth/messaging';
import type { AgentListQuery } from '../agent-list/agent-list.query.js';
import type { AgentCommandHandler } from '../agent/agent.command-handler.js';
import { ofAccount } from '../agent/ensure-awake.js';
import { envCodec, envDecider, type AgentEnv, type EnvCommand, type EnvEvent } from './agent-env.js';
import type { EnvVault } from './env-vault.js';

/** Variables of an agent. A running program sees a change after a reload or a start. */
export class EnvCommandHandler {
  private readonly handler: CommandHandler<AgentEnv, EnvCommand, EnvEvent>;

  constructor(
    store: EventStore,
    private readonly agents: AgentCommandHandler,
    private readonly vault: EnvVault,
    private readonly requester: Requester,
    private readonly query: AgentListQuery,
  ) {
    this.handler = new CommandHandler({ store, decider: envDecider, codec: envCodec, cacheSize: 500 });
  }

  async list(request: LocateAgent): Promise<readonly EnvVarView[]> {
    await this.query.locate(request.accountId, request.agentId);
    return await this.vault.list(request.agentId);
  }

  async set(request: SetEnvVar): Promise<EnvVarView> {
    ofAccount(await this.agents.load(request.agentId), request.accountId);
    const { agentId, key, isSecret } = request;
    const view = await this.vault.put(agentId, request);
    await this.handler.handle(
      agentId,
      { type: 'Set', agentId, key, isSecret, at: new Date().toISOString() },
      request,
    );
    return view;
  }

  /** Errors: not_found `env_var_not_found`. */
  async remove(request: DeleteEnvVar): Promise<void> {
    ofAccount(await this.agents.load(request.agentId), request.accountId);
    const { agentId, key } = request;
    if (!(await this.vault.remove(agentId, key))) {
      throw new DomainError('not_found', 'env_var_not_found', 'The agent has no variable of this name.');
    }
    await this.handler.handle(
      agentId,
      { type: 'Remove', agentId, key, at: new Date().toISOString() },
      request,
    );
  }

  /** Restarts the program of an awake agent with its present variables; an agent at rest sees them at its next start. */
  async reload(request: AgentCommand): Promise<AgentView> {
    const agent = ofAccount(await this.agents.load(request.agentId), request.accountId);
    if (agent.life.state === 'running') {
      const { agentId, epoch, host } = agent;
      const env = await this.vault.open(agentId);
      const payload = { agentId, epoch, env: env.values, secretKeys: env.secretKeys };
      await this.requester.request(runtimeRequests.replaceEnv, payload, { host: host ?? '' });
    }
    return await this.query.get(request.accountId, request.agentId);
  }
}
