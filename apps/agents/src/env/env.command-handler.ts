import type {
  AgentRef,
  AgentView,
  DeleteEnvVar,
  EnvPage,
  EnvVarView,
  ListEnv,
  SetEnvVar,
} from '@berth/contracts/agents';
import { runtimeRequests } from '@berth/contracts/runtime';
import { DomainError, isDomainError } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { Inject, Injectable } from '@nestjs/common';
import { AgentsFromLog } from '../agent-list/agents-from-log.js';
import { AgentCommandHandler } from '../agent/agent.command-handler.js';
import { AgentLifecycle } from '../agent/agent-lifecycle.js';
import type { LiveAgent } from '../agent/agent.js';
import { ofAccount } from '../agent/ensure-awake.js';
import { EnvHistory } from './env-history.js';
import { ENV_TOO_LARGE } from './env-limits.js';
import { EnvVault } from './env-vault.js';

/** A reload fails if the agent's epoch changed during this many attempts in a row. */
const MAX_ATTEMPTS = 3;

/** The variables of agents. A running program sees a change after a reload or a start. */
@Injectable()
export class EnvCommandHandler {
  constructor(
    private readonly history: EnvHistory,
    private readonly agents: AgentCommandHandler,
    private readonly vault: EnvVault,
    @Inject(Requester) private readonly requester: Pick<Requester, 'request'>,
    private readonly fromLog: AgentsFromLog,
    private readonly lifecycle: AgentLifecycle,
  ) {}

  async list(request: ListEnv): Promise<EnvPage> {
    ofAccount(await this.agents.load(request.agentId), request.accountId);
    return await this.vault.list(request.agentId, request.after);
  }

  /** Errors: invalid `invalid_request` beyond the limits of an agent. */
  async set(request: SetEnvVar): Promise<EnvVarView> {
    const agent = ofAccount(await this.agents.load(request.agentId), request.accountId);
    const { agentId, commandId } = request;
    const view = await this.vault.put(agentId, commandId, request);
    await this.forgetUnlessLive(request);
    await this.history.recordSet(agent, view, request);
    return view;
  }

  /** Removes the variable again if its agent is being deleted: a deletion is in the log before it empties the vault. */
  private async forgetUnlessLive({ agentId, accountId }: AgentRef): Promise<void> {
    const agent = await this.agents.load(agentId);
    if (agent.status !== 'live') await this.vault.forget(agentId);
    ofAccount(agent, accountId);
  }

  /** Errors: not_found `env_var_not_found`. */
  async remove(request: DeleteEnvVar): Promise<void> {
    const agent = ofAccount(await this.agents.load(request.agentId), request.accountId);
    const { agentId, commandId, key } = request;
    if (!(await this.vault.remove(agentId, commandId, key))) {
      throw new DomainError('not_found', 'env_var_not_found', 'The agent has no variable of this name.');
    }
    await this.history.recordRemoval(agent, key, request);
  }

  /** Restarts the program of an awake agent with its current variables; any other agent gets them at its next start. */
  async reload(request: AgentRef): Promise<AgentView> {
    const { accountId, agentId } = request;
    for (let attempt = 1; ; attempt++) {
      try {
        await this.renew(ofAccount(await this.agents.load(agentId), accountId));
        return await this.fromLog.view(accountId, agentId);
      } catch (error) {
        // The agent fell asleep or woke up in between.
        const overtaken = isDomainError(error, 'conflict') && error.code === 'stale_epoch';
        if (overtaken && attempt < MAX_ATTEMPTS) continue;
        throw isHostRefusal(error) ? unreachable(error) : error;
      }
    }
  }

  private async renew(agent: LiveAgent): Promise<void> {
    const { agentId, epoch, host, life } = agent;
    if (life.state === 'deploying' || life.state === 'starting') {
      // The start in progress may have read the variables before they changed.
      await this.lifecycle.drive(agentId);
      const started = await this.agents.load(agentId);
      if (started.status === 'live' && started.life.state === 'running') await this.renew(started);
    } else if (life.state === 'running') {
      const env = await this.vault.open(agentId);
      const payload = { agentId, epoch, env: env.values, secretKeys: env.secretKeys };
      await this.requester
        .request(runtimeRequests.replaceEnv, payload, { host: host ?? '' })
        .catch(refuseTooLarge);
    } else {
      // A thawed program would continue with the variables that it was started with.
      await this.lifecycle.cool(agent);
    }
  }
}

/** Errors about epochs and hosts, which mean nothing to a caller. */
const isHostRefusal = (error: unknown): boolean =>
  isDomainError(error) && ['stale_epoch', 'agent_not_on_host', 'guest_unreachable'].includes(error.code);

const unreachable = (cause: unknown): DomainError =>
  new DomainError(
    'unavailable',
    'agent_unavailable',
    'The agent cannot be reloaded right now. Try again in a moment.',
    {},
    { cause },
  );

const refuseTooLarge = (error: unknown): never => {
  if (!isDomainError(error, 'too_large')) throw error;
  throw new DomainError('conflict', ENV_TOO_LARGE.code, ENV_TOO_LARGE.message, {}, { cause: error });
};
