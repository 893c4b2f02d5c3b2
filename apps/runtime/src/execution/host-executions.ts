import type {
  ExecuteCommand,
  ExecuteLegacyCommand,
  ExecutionOutcome,
  FindExecution,
  FoundExecution,
  LegacyOutcome,
  PrecludedExecution,
  PrecludeExecution,
} from '@berth/contracts/runtime';
import type { ExecutionReport } from '@berth/guest-protocol';
import { isDomainError } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import type { CurrentGuest } from '../agent/agent-life.js';
import type { BoxedGuest } from '../agent/boxed-guest.js';
import { HostedAgents } from '../agent/hosted-agents.js';
import { guestUnreachable } from '../guest/guest-responses.js';
import { ExecutionJournal } from './execution-journal.js';
import { toOutcome } from './execution-outcome.js';
import { executionUnknown, outcomeUnknown } from './execution-refusals.js';
import { isUnknown, WAIT_MS } from './follow-execution.js';
import { runCommand, whyNotStarted } from './run-command.js';

/** Time limit for the guest's confirmation that a command started; after it the outcome counts as unknown. */
const STARTED_WITHIN_MS = 15_000;
/** Extra time for a command to end after its own time-out. */
const END_GRACE_MS = 15_000;
/** How long to wait for a guest that does not respond, in case it is being frozen or ended. */
const HALTED_WITHIN_MS = 3_000;
const LONGEST_TIMER_MS = 2_147_483_647;

/** Runs commands in the agents of this host. */
@Injectable()
export class HostExecutions {
  constructor(
    private readonly agents: HostedAgents,
    private readonly journal: ExecutionJournal,
  ) {}

  /** See `runtimeRequests.execute`. */
  async execute(command: ExecuteCommand): Promise<ExecutionOutcome> {
    const { agentId, epoch, executionId, wait, timeoutMs } = command;
    const agent = this.agents.of(agentId);
    const { started, ended } = runCommand(agent.openAt(epoch), command, {
      record: () => this.journal.read(agentId, executionId),
      isOnHost: () => !agent.removed,
    });
    return wait ? orUnknown(ended, timeoutMs + END_GRACE_MS) : orUnknown(started, STARTED_WITHIN_MS);
  }

  /** See `runtimeRequests.executeLegacy`. */
  async executeLegacy({
    agentId,
    epoch,
    command,
    cwd,
    env,
    timeoutMs,
  }: ExecuteLegacyCommand): Promise<LegacyOutcome> {
    const guest = this.agents.of(agentId).openAt(epoch);
    const ran = guest.during('exec', async ({ halted }) => {
      try {
        return await guest.client.executeLegacy({ command, cwd, env, timeoutMs }, halted);
      } catch (error) {
        throw whyNotStarted(error, guest, epoch) ?? outcomeUnknown(error);
      }
    });
    return orUnknown(ran, timeoutMs + END_GRACE_MS);
  }

  /** See `runtimeRequests.findExecution`. */
  async find({ agentId, executionId, waitMs }: FindExecution): Promise<FoundExecution> {
    const wait = Math.min(Math.max(0, waitMs), WAIT_MS);
    const { current, outcome } = await this.#lookUp(agentId, executionId, (guest) =>
      guest.client.execution(executionId, wait, guest.signals.halted),
    );
    if (outcome !== undefined) return { state: 'known', outcome };
    return { state: 'absent', epoch: current.epoch, awake: current.awake !== null };
  }

  /** See `runtimeRequests.precludeExecution`. */
  async preclude({ agentId, epoch, executionId }: PrecludeExecution): Promise<PrecludedExecution> {
    const guest = this.agents.of(agentId).awakeAt(epoch);
    return guest.client.precludeExecution(executionId, guest.signals.halted);
  }

  /** See `runtimeRequests.cancelExecution`. */
  async cancel({
    agentId,
    executionId,
  }: {
    readonly agentId: string;
    readonly executionId: string;
  }): Promise<ExecutionOutcome> {
    const { outcome } = await this.#lookUp(agentId, executionId, (guest) =>
      guest.client.cancelExecution(executionId, guest.signals.halted),
    );
    if (outcome === undefined) throw executionUnknown();
    if (outcome.status === 'running') throw guestUnreachable();
    return outcome;
  }

  /** Queries the guest, or reads its journal if the guest is at rest. `current` is the state before the request. */
  async #lookUp(
    agentId: string,
    executionId: string,
    query: (guest: BoxedGuest) => Promise<ExecutionReport>,
  ): Promise<{ readonly current: CurrentGuest; readonly outcome: ExecutionOutcome | undefined }> {
    const agent = this.agents.of(agentId);
    const { current } = agent;
    const guest = current.awake;
    if (guest !== null) {
      try {
        return { current, outcome: toOutcome(await query(guest)) };
      } catch (error) {
        if (isUnknown(error)) return { current, outcome: undefined };
        if (isDomainError(error) && error.code !== 'guest_unreachable') throw guestUnreachable(error);
        await guest.untilHalted(HALTED_WITHIN_MS);
        if (guest.awake) throw error;
      }
    }
    await agent.pendingEnd.over(HALTED_WITHIN_MS);
    return { current, outcome: await this.journal.read(agentId, executionId) };
  }
}

const orUnknown = async <T>(outcome: Promise<T>, withinMs: number): Promise<T> => {
  if (withinMs > LONGEST_TIMER_MS) return outcome;
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(outcomeUnknown()), withinMs);
  try {
    return await Promise.race([outcome, late.promise]);
  } finally {
    clearTimeout(timer);
    // The execution continues and keeps the agent awake.
    outcome.catch(() => undefined);
  }
};
