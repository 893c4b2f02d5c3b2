import { TransitionRuns, type DriveResult } from '@berth/boxes';
import { HOST_FULL, HOST_UNAVAILABLE } from '@berth/contracts/runtime';
import { Clock, DomainError, isDomainError, isoTime, storageFull, type CommandEnvelope } from '@berth/kernel';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { ComputerHosts } from '../host/computer-hosts.js';
import { ComputerOwners } from '../personal-data/computer-owners.js';
import { Admission, ownerOf } from './admission.js';
import { ComputerCommandHandler, systemOrigin } from './computer.command-handler.js';
import type { ComputerCommand } from './computer.commands.js';
import type { Computer, LiveComputer, StartingLife } from './computer.js';

/** Carries out the transitions that are in progress according to the log: starts, thaws, stops and removals. */
@Injectable()
export class ComputerLifecycle {
  private readonly runs: TransitionRuns<Computer>;

  constructor(
    private readonly computers: ComputerCommandHandler,
    private readonly hosts: ComputerHosts,
    private readonly owners: ComputerOwners,
    private readonly admission: Admission,
    private readonly clock: Clock,
    log: Logger,
  ) {
    this.runs = new TransitionRuns(computers, log);
  }

  /** Drives the computer's transitions until all have ended, or one fails. Concurrent calls share one run. */
  drive(computerId: string): Promise<DriveResult> {
    return this.runs.drive(computerId, (computer) => this.step(computer));
  }

  /** Takes the computer from warm sleep to cold, which frees its memory. A concurrent wake has a higher epoch and wins. */
  async cool(computer: LiveComputer): Promise<void> {
    const { life, epoch } = computer;
    if (life.state !== 'sleeping' || life.depth !== 'warm') return;
    await this.hosts.stop(computer);
    await this.decide(computer, 'cooled', { type: 'FallAsleep', epoch, depth: 'cold', reason: 'cooled' });
  }

  /** Returns whether it carried out a transition. */
  private async step(computer: Computer): Promise<boolean> {
    if (computer.status === 'deleting') return this.remove(computer);
    if (computer.status !== 'live') return false;
    const { life, epoch } = computer;
    if (life.state === 'starting') return this.start(computer, life);
    if (life.state !== 'stopping') return false;
    await this.hosts.stop(computer);
    return this.decide(computer, 'stopped', { type: 'ConfirmStopped', epoch });
  }

  private async start(computer: LiveComputer, life: StartingLife): Promise<boolean> {
    const { epoch } = computer;
    if (life.cause === 'create' && !(await this.owners.ensure(computer, this.origin(computer, 'owner'))))
      return this.decide(computer, 'revoked', { type: 'RequestDeletion' });
    try {
      const thawed = life.thaw && (await this.hosts.thaw(computer));
      if (!thawed) await this.hosts.start(computer, life.deadline);
      // A suspension that begins after this look-up finds the computer `starting`.
      if (await this.isSuspended(computer))
        return await this.decide(computer, 'suspended', { type: 'Stop', reason: 'suspended', epoch });
      return await this.decide(computer, 'started', { type: 'ConfirmStarted', epoch });
    } catch (error) {
      if (isHostUnavailable(error)) await this.breakOff(computer, error);
      if (!isDomainError(error, 'upstream')) throw error;
      const { code, message } = error;
      return this.decide(computer, 'failed', { type: 'FailTransition', epoch, code, message });
    }
  }

  private async isSuspended(computer: LiveComputer): Promise<boolean> {
    try {
      await this.admission.requireActive(ownerOf(computer));
      return false;
    } catch (error) {
      if (isDomainError(error, 'forbidden')) return true;
      throw error;
    }
  }

  /** The host can start no computer at present. */
  private async breakOff(computer: LiveComputer, { code, message }: DomainError): Promise<void> {
    const failure = code === HOST_FULL ? { code: 'no_capacity', message } : null;
    const { epoch } = computer;
    await this.decide(computer, 'broken-off', { type: 'BreakOffStart', epoch, failure });
  }

  private async remove(computer: Extract<Computer, { status: 'deleting' }>): Promise<boolean> {
    const { computerId, accountId } = computer;
    await this.hosts.remove(computer);
    await this.computers.handle(
      computerId,
      { type: 'ConfirmDeleted', at: isoTime(this.clock.now()) },
      systemOrigin(accountId, `${computerId}/deleted`),
    );
    return true;
  }

  private async decide(computer: LiveComputer, what: string, command: WithoutTime): Promise<true> {
    const at = isoTime(this.clock.now());
    await this.computers.handle(computer.computerId, { ...command, at }, this.origin(computer, what));
    return true;
  }

  private origin({ computerId, epoch, profile }: LiveComputer, what: string): CommandEnvelope {
    return systemOrigin(profile.accountId, `${computerId}/${String(epoch)}/${what}`);
  }
}

type Without<Command, Member extends PropertyKey> = Command extends unknown ? Omit<Command, Member> : never;
type WithoutTime = Without<ComputerCommand, 'at'>;

/** Whether the host could start no computer when it was asked for one. */
export const isHostUnavailable = (error: unknown): error is DomainError =>
  isDomainError(error, 'unavailable') && (error.code === HOST_UNAVAILABLE || error.code === HOST_FULL);

/** For a caller that needs a computer started. */
export const cannotStart = (cause: DomainError): DomainError =>
  cause.code === HOST_FULL
    ? storageFull({ cause, effect: 'none' })
    : computerUnavailable(
        'The machine of the computer can start no computer at present; try again shortly.',
        cause,
      );

/** For a caller that did nothing with the computer. */
export const computerUnavailable = (message: string, cause?: unknown): DomainError =>
  new DomainError('unavailable', 'computer_unavailable', message, {}, { cause, effect: 'none' });
