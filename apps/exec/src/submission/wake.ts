import { AgentClient } from '@berth/agent-client';
import type { AwakeAgent } from '@berth/contracts/hosting';
import { isDomainError, type CommandEnvelope } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { guestCommandUnavailable, vmNotReady } from './refusals.js';

/** Wakes agents for commands, and maps the errors of a wake to those of a submission. */
@Injectable()
export class Wake {
  constructor(private readonly agents: AgentClient) {}

  /**
   * For a command that has not been dispatched, so that every error means that it certainly did not start. Errors:
   * conflict `vm_not_ready`, unavailable `guest_command_unavailable`, not_found, and the errors of a wake that is not
   * admitted.
   */
  async forCommand(
    envelope: CommandEnvelope,
    agentId: string,
    refusedEpoch: number | null,
  ): Promise<AwakeAgent> {
    try {
      return await this.agents.wake({ envelope, agentId, kind: 'exec' }, refusedEpoch);
    } catch (error) {
      throw notStarted(error);
    }
  }

  /** Whether the agent's guest is known to lack detached commands. Never wakes the agent. Errors: like `forCommand`. */
  async isKnownAsOld({ accountId }: CommandEnvelope, agentId: string): Promise<boolean> {
    try {
      const { guest } = await this.agents.locate(accountId, agentId);
      return guest.version !== '' && !supportsExecutions(guest);
    } catch (error) {
      throw notStarted(error);
    }
  }
}

/** Whether a guest supports executions; older ones only run attached commands without an id. */
export const supportsExecutions = (guest: AwakeAgent['guest']): boolean =>
  guest.capabilities.includes('exec.detached');

const NOT_AWAKE: ReadonlySet<string> = new Set(['agent_stopped', 'agent_failed']);
const OUTAGES: ReadonlySet<string> = new Set(['unavailable', 'timeout', 'internal']);

const notStarted = (error: unknown): unknown => {
  if (!isDomainError(error)) return guestCommandUnavailable(error);
  if (error.code === 'agent_deploying') return vmNotReady(error);
  if (NOT_AWAKE.has(error.code) || OUTAGES.has(error.kind)) return guestCommandUnavailable(error);
  return error;
};
