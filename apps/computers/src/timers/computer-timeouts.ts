import { detach, isoTime } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { ComputerCommandHandler, systemOrigin } from '../computer/computer.command-handler.js';
import { ComputerLifecycle } from '../computer/computer-lifecycle.js';
import type { LiveComputer } from '../computer/computer.js';
import { ComputerHostDirectory } from '../host/computer-host-directory.js';

/** Awake or coming up. */
const AWAKE: ReadonlySet<LiveComputer['life']['state']> = new Set(['starting', 'running']);

/**
 * Acts on a computer whose deadline has passed, whose warm sleep has lasted its time, whose account or end user is
 * suspended, or whose host is lost.
 */
@Injectable()
export class ComputerTimeouts {
  constructor(
    private readonly computers: ComputerCommandHandler,
    private readonly lifecycle: ComputerLifecycle,
    private readonly hosts: ComputerHostDirectory,
  ) {}

  /** Fails the computer's transition if its deadline has passed. */
  async failOverdue(computerId: string): Promise<void> {
    const computer = await this.live(computerId);
    if (computer === null || !('deadline' in computer.life)) return;
    const { state, deadline } = computer.life;
    if (Date.parse(deadline) > Date.now()) return;
    const { epoch, profile } = computer;
    const message = `The computer was ${state} for too long.`;
    await this.computers.handle(
      computerId,
      { type: 'FailTransition', epoch, code: `${state}_timed_out`, message, at: now() },
      systemOrigin(profile.accountId, `${computerId}/${String(epoch)}/overdue`),
    );
  }

  /** Fails a computer whose host is lost (`LoseHost`), or was removed by an operator. */
  async failWithHost(computerId: string, type: 'LoseHost' | 'RemoveHost'): Promise<void> {
    const computer = await this.live(computerId);
    if (computer === null) return;
    const { epoch, since, profile, host } = computer;
    const seenAt = await this.hosts.lastSeen(host);
    await this.computers.handle(
      computerId,
      { type, at: now(), ...(seenAt === null ? {} : { seenAt }) },
      systemOrigin(profile.accountId, `${computerId}/${String(epoch)}/${since}/${type}`),
    );
  }

  /** Puts a computer of a suspended account or end user to sleep, without keeping its processes. */
  async suspend(computerId: string): Promise<void> {
    const computer = await this.live(computerId);
    if (computer === null) return;
    if (computer.life.state === 'sleeping') return this.lifecycle.cool(computer);
    await this.decideSuspension(computer);
    await this.lifecycle.drive(computerId);
  }

  /** Like `suspend`, for one that is awake or coming up; returns once no new use can reach it. */
  async beginSuspension(computerId: string): Promise<void> {
    const computer = await this.live(computerId);
    if (computer === null || !AWAKE.has(computer.life.state)) return;
    await this.decideSuspension(computer);
    detach(this.lifecycle.drive(computerId));
  }

  /** Turns the computer's warm sleep cold. */
  async cool(computerId: string): Promise<void> {
    const computer = await this.live(computerId);
    if (computer !== null) await this.lifecycle.cool(computer);
  }

  private async decideSuspension({ computerId, epoch, profile }: LiveComputer): Promise<void> {
    await this.computers.handle(
      computerId,
      { type: 'Stop', reason: 'suspended', epoch, at: now() },
      systemOrigin(profile.accountId, `${computerId}/${String(epoch)}/suspended`),
    );
  }

  private async live(computerId: string): Promise<LiveComputer | null> {
    const computer = await this.computers.load(computerId);
    return computer.status === 'live' ? computer : null;
  }
}

const now = (): string => isoTime(Date.now());
