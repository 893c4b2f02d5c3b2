import type { ExecutionRef, FollowedOutput } from '@berth/contracts/exec';
import { Injectable } from '@nestjs/common';
import { ExecutionQuery } from '../execution/execution.query.js';
import { ExecutionHosts } from '../host/execution-host.js';
import { agentUnreachable } from '../submission/refusals.js';

/** A host on which the execution no longer runs may just have reported its end. */
const END_WITHIN_MS = 2_000;

/** Determines where an execution's output can be followed. Never wakes the agent. */
@Injectable()
export class FollowOutputHandler {
  constructor(
    private readonly query: ExecutionQuery,
    private readonly hosts: ExecutionHosts,
  ) {}

  /** Errors: not_found; unavailable `agent_unavailable` if the host cannot be reached. */
  async handle(ref: ExecutionRef): Promise<FollowedOutput> {
    const { view, running } = await this.query.find(ref);
    if (running === null) return { kind: 'ended', execution: view };
    const { host, agentId, epoch, executionId } = running;
    try {
      const stream = await this.hosts.openTransfer(host, agentId, epoch, { kind: 'output', executionId });
      return { kind: 'live', stream: { ...stream, host } };
    } catch (error) {
      const execution = await this.query.await({ ...ref, waitMs: END_WITHIN_MS });
      if (execution.status !== 'running') return { kind: 'ended', execution };
      throw agentUnreachable(error);
    }
  }
}
