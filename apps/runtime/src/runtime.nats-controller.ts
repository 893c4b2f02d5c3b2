import {
  boxOwner,
  runtimeRequests,
  type AgentEpoch,
  type DeliverMessage,
  type DeliveredMessage,
  type FindDelivery,
  type FoundDelivery,
  type HostView,
  type IdleTime,
  type LogsPage,
  type ReadLogs,
  type ReplaceEnv,
  type StartAgent,
  type StartedAgent,
  type ThawAgent,
} from '@berth/contracts/runtime';
import { HandleRequest } from '@berth/messaging';
import { Controller, Inject } from '@nestjs/common';
import { agentNotOnHost, hostUnavailable } from './agent/agent-refusals.js';
import { HostedAgents } from './agent/hosted-agents.js';
import { Deliveries } from './delivery/deliveries.js';
import { Driver } from './driver/driver.js';
import { AgentLogs } from './logs/agent-logs.js';
import { HostDescription } from './report/host-description.js';

type Nothing = Record<string, never>;

/** Less than a caller waits for `describe`. */
const KNOWN_WITHIN_MS = 700;

/** NATS handlers of one host. */
@Controller()
export class RuntimeNatsController {
  constructor(
    private readonly description: HostDescription,
    @Inject(Driver) private readonly driver: Pick<Driver, 'canStart'>,
    private readonly agents: HostedAgents,
    private readonly deliveries: Deliveries,
    private readonly agentLogs: AgentLogs,
  ) {}

  @HandleRequest(runtimeRequests.hosts, { broadcast: true })
  hosts(): Promise<HostView> {
    return this.description.read();
  }

  @HandleRequest(runtimeRequests.describe)
  async describe(): Promise<HostView> {
    if (!(await this.driver.canStart(KNOWN_WITHIN_MS))) throw hostUnavailable();
    return this.description.read();
  }

  @HandleRequest(runtimeRequests.start)
  async start(request: StartAgent): Promise<StartedAgent> {
    return this.agents.start(request);
  }

  @HandleRequest(runtimeRequests.thaw)
  async thaw(request: ThawAgent): Promise<StartedAgent> {
    return this.agents.of(request.agentId).thaw(request);
  }

  @HandleRequest(runtimeRequests.freeze)
  async freeze(request: AgentEpoch): Promise<Nothing> {
    await this.agents.of(request.agentId).freeze(request);
    return {};
  }

  @HandleRequest(runtimeRequests.setIdleTimes)
  setIdleTimes({ agents }: { readonly agents: readonly IdleTime[] }): Promise<Nothing> {
    for (const time of agents) this.agents.setIdleTime(time);
    return Promise.resolve({});
  }

  @HandleRequest(runtimeRequests.stop)
  async stop(request: AgentEpoch): Promise<Nothing> {
    await this.agents.of(request.agentId).stop(request);
    return {};
  }

  @HandleRequest(runtimeRequests.remove)
  async remove({ agentId }: { readonly agentId: string }): Promise<Nothing> {
    await this.agents.remove(agentId);
    return {};
  }

  @HandleRequest(runtimeRequests.replaceEnv)
  async replaceEnv(request: ReplaceEnv): Promise<Nothing> {
    await this.agents.of(request.agentId).replaceEnv(request);
    return {};
  }

  @HandleRequest(runtimeRequests.deliver)
  async deliver({ agentId, epoch, ...message }: DeliverMessage): Promise<DeliveredMessage> {
    return this.agents.of(agentId).awakeAt(epoch).deliver(message);
  }

  @HandleRequest(runtimeRequests.findDelivery)
  async findDelivery(which: FindDelivery): Promise<FoundDelivery> {
    return this.deliveries.find(which);
  }

  @HandleRequest(runtimeRequests.logs)
  async logs(request: ReadLogs): Promise<LogsPage> {
    if (boxOwner(request.agentId) === undefined) throw agentNotOnHost();
    return this.agentLogs.read(request);
  }
}
