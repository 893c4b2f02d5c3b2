import { asFinal, DomainError, deriveId, isDomainError, isoTime, Clock, type ErrorKind } from '@berth/kernel';
import { metrics, Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import type { AgentTarget } from '../agent-target.js';
import { failureOfRepetition, isOutcomeUnknown } from './change-outcome.js';
import type { FileChangeCommand } from './file-change.decider.js';
import type { Changed, FileChangeState, FileOp } from './file-change.js';
import { FileChangeStreams } from './file-change.streams.js';
import { BackgroundRetries } from './background-retries.js';
import { PersonalPaths, type RequestedChange } from './personal-paths.js';

/** The agent whose volume is changed. */
export interface ChangeTarget extends AgentTarget {
  /** Its owner; null without one. */
  readonly endUserId: string | null;
}

const counted = metrics.counter('berth_file_changes', 'Changes of volumes, by operation and outcome.', [
  'op',
  'outcome',
]);

/** Derives the id of the change from the command id, so that a repeated command finds its first attempt. */
export const changeIdOf = (commandId: string): string => deriveId('fch', commandId);

/** Makes changes to volumes and records each one twice: its request before, its outcome after. */
@Injectable()
export class FileChanges {
  readonly #running = new Map<string, Promise<Changed>>();

  constructor(
    private readonly changes: FileChangeStreams,
    private readonly retries: BackgroundRetries,
    private readonly paths: PersonalPaths,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /**
   * Makes a change once. An error of `effect` is recorded as its refusal, unless `isOutcomeUnknown` holds: then the
   * change keeps no outcome. A repeated command joins the running change or gets its outcome; a change without an
   * outcome is attempted again. Errors: those of `effect` and of `PersonalPaths`.
   */
  make(
    agentTarget: ChangeTarget,
    requested: RequestedChange,
    effect: () => Promise<Changed>,
  ): Promise<Changed> {
    const changeId = changeIdOf(agentTarget.commandId);
    const running = this.#running.get(changeId);
    if (running !== undefined) return running;
    const made = this.#make(changeId, agentTarget, requested, effect).finally(() =>
      this.#running.delete(changeId),
    );
    this.#running.set(changeId, made);
    return made;
  }

  async #make(
    changeId: string,
    agentTarget: ChangeTarget,
    requested: RequestedChange,
    effect: () => Promise<Changed>,
  ): Promise<Changed> {
    const record = await this.paths.recordOf(changeId, agentTarget.endUserId);
    const request = record.request(agentTarget, requested, this.#now());
    const { state, replayed } = await this.changes.handle(changeId, request, agentTarget, {
      expectNew: true,
    });
    if (state.status === 'changed') return record.open(state.result);
    if (state.status === 'refused') throw refusedBefore(state);
    try {
      const changed = await effect();
      await this.#end(changeId, agentTarget, record.completion(changed, this.#now()));
      counted.inc({ op: requested.op, outcome: 'changed' });
      return changed;
    } catch (error) {
      const failure = replayed ? failureOfRepetition(error) : error;
      const ended = await this.#failed(changeId, agentTarget, requested.op, failure);
      if (ended?.status === 'changed') return record.open(ended.result);
      throw ended?.status === 'refused' ? asFinal(failure) : failure;
    }
  }

  /** Returns the change as it is in the log then: an earlier attempt may have made it. Undefined if that is unknown. */
  async #failed(
    changeId: string,
    agentTarget: AgentTarget,
    op: FileOp,
    error: unknown,
  ): Promise<FileChangeState | undefined> {
    if (!isDomainError(error) || isOutcomeUnknown(error)) {
      counted.inc({ op, outcome: 'unknown' });
      return undefined;
    }
    const { kind, code } = error;
    const ended = await this.#end(changeId, agentTarget, { type: 'Refuse', kind, code, at: this.#now() });
    counted.inc({ op, outcome: 'refused' });
    return ended;
  }

  /** Never throws: a failed write is retried in the background, and the caller still gets the result. */
  async #end(
    changeId: string,
    agentTarget: AgentTarget,
    command: FileChangeCommand,
  ): Promise<FileChangeState | undefined> {
    const origin = { ...agentTarget, commandId: `${agentTarget.commandId}/outcome` };
    const write = async (): Promise<FileChangeState> =>
      (await this.changes.handle(changeId, command, origin)).state;
    try {
      return await write();
    } catch (error) {
      const { agentId } = agentTarget;
      this.log.warn({ changeId, agentId, err: error }, 'could not record the outcome of a file change yet');
      this.retries.begin({ what: `outcome of ${changeId}`, agentId }, write);
      return undefined;
    }
  }

  #now(): string {
    return isoTime(this.clock.now());
  }
}

const refusedBefore = ({ kind, code }: { readonly kind: string; readonly code: string }): DomainError =>
  new DomainError(
    kind as ErrorKind,
    code,
    'This was rejected when it was first requested; send a new request.',
    {},
    { effect: 'final' },
  );
