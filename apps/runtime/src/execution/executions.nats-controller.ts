import {
  runtimeRequests,
  type ExecuteCommand,
  type ExecuteLegacyCommand,
  type ExecutionOutcome,
  type FindExecution,
  type FoundExecution,
  type LegacyOutcome,
  type PrecludedExecution,
  type PrecludeExecution,
} from '@berth/contracts/runtime';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { HostExecutions } from './host-executions.js';

/** NATS handlers for commands in agents. */
@Controller()
export class ExecutionsNatsController {
  constructor(private readonly executions: HostExecutions) {}

  @HandleRequest(runtimeRequests.execute)
  async execute(command: ExecuteCommand): Promise<ExecutionOutcome> {
    return this.executions.execute(command);
  }

  @HandleRequest(runtimeRequests.executeLegacy)
  async executeLegacy(command: ExecuteLegacyCommand): Promise<LegacyOutcome> {
    return this.executions.executeLegacy(command);
  }

  @HandleRequest(runtimeRequests.findExecution)
  async find(query: FindExecution): Promise<FoundExecution> {
    return this.executions.find(query);
  }

  @HandleRequest(runtimeRequests.precludeExecution)
  async preclude(which: PrecludeExecution): Promise<PrecludedExecution> {
    return this.executions.preclude(which);
  }

  @HandleRequest(runtimeRequests.cancelExecution)
  async cancel(which: { readonly agentId: string; readonly executionId: string }): Promise<ExecutionOutcome> {
    return this.executions.cancel(which);
  }
}
