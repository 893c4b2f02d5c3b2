import { DomainError, deriveId, isDomainError, isoTime, type Clock, type ErrorKind } from '@berth/kernel';
import type { CommandHandler } from '@berth/event-store';
import { metrics, type Logger } from '@berth/telemetry';
import type { Wanted } from '../host/awake-host.js';
import { failureOfRepetition, isOutcomeUnknown } from './change-outcome.js';
import type { FileChangeCommand } from './file-change.decider.js';
import type { Changed, FileChangeEvent, FileChangeState, FileOp } from './file-change.js';
import type { LaterAttempts } from './later-attempts.js';

/** What the audit says was asked for. */
export interface AskedChange {
  readonly op: FileOp;
  readonly path: string;
  readonly to?: string;
}

const counted = metrics.counter(
  'berth_file_changes',
  'Changes of volumes, by what was asked and what became of it.',
  ['op', 'outcome'],
);

/** The id of the change follows from the command's: the same command sent again meets itself. */
export const changeIdOf = (commandId: string): string => deriveId('fch', commandId);

/** Makes changes of volumes and writes them down: that they were asked for before, what became of them after. */
export class FileChanges {
  readonly #running = new Map<string, Promise<Changed>>();

  constructor(
    private readonly changes: CommandHandler<FileChangeState, FileChangeCommand, FileChangeEvent>,
    private readonly later: LaterAttempts,
    private readonly clock: Clock,
    private readonly log: Logger,
  ) {}

  /**
   * Makes a change once. What `effect` throws with `isOutcomeUnknown` leaves it without an outcome, everything else is
   * its refusal. A command that comes again joins the first or gets its outcome; one without an outcome is attempted
   * again.
   */
  make(wanted: Wanted, asked: AskedChange, effect: () => Promise<Changed>): Promise<Changed> {
    const changeId = changeIdOf(wanted.commandId);
    const running = this.#running.get(changeId);
    if (running !== undefined) return running;
    const made = this.#make(changeId, wanted, asked, effect).finally(() => this.#running.delete(changeId));
    this.#running.set(changeId, made);
    return made;
  }

  async #make(
    changeId: string,
    wanted: Wanted,
    asked: AskedChange,
    effect: () => Promise<Changed>,
  ): Promise<Changed> {
    const { agentId, accountId } = wanted;
    const request = { type: 'Request', changeId, agentId, accountId, ...asked, at: this.#now() } as const;
    const { state, replayed } = await this.changes.handle(changeId, request, wanted, { expectNew: true });
    if (state.status === 'changed') return state.changed;
    if (state.status === 'refused') throw refusedBefore(state);
    try {
      const changed = await effect();
      await this.#end(changeId, wanted, { type: 'Complete', changed, at: this.#now() });
      counted.inc({ op: asked.op, outcome: 'changed' });
      return changed;
    } catch (error) {
      throw await this.#failed(changeId, wanted, asked.op, replayed ? failureOfRepetition(error) : error);
    }
  }

  async #failed(changeId: string, wanted: Wanted, op: FileOp, error: unknown): Promise<unknown> {
    if (!isDomainError(error) || isOutcomeUnknown(error)) {
      counted.inc({ op, outcome: 'unknown' });
      return error;
    }
    const { kind, code } = error;
    await this.#end(changeId, wanted, { type: 'Refuse', kind, code, at: this.#now() });
    counted.inc({ op, outcome: 'refused' });
    return error;
  }

  /** The change is what it is, whether it could be written down or not. */
  async #end(changeId: string, wanted: Wanted, command: FileChangeCommand): Promise<void> {
    const origin = { ...wanted, commandId: `${wanted.commandId}/outcome` };
    const write = (): Promise<unknown> => this.changes.handle(changeId, command, origin);
    try {
      await write();
    } catch (error) {
      const { agentId } = wanted;
      this.log.warn(
        { changeId, agentId, err: error },
        'the outcome of a file change could not be written down yet',
      );
      this.later.begin({ what: `outcome of ${changeId}`, agentId }, write);
    }
  }

  #now(): string {
    return isoTime(this.clock.now());
  }
}

const refusedBefore = ({ kind, code }: { readonly kind: string; readonly code: string }): DomainError =>
  new DomainError(kind as ErrorKind, code, 'This was refused when it was first asked for; ask anew.');
