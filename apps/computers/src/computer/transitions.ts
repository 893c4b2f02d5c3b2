import type { ComputerRef, ComputerTransition } from '@berth/contracts/computers';
import { isDomainError, isoTime, stepOf } from '@berth/kernel';
import { within } from '@berth/supervision';
import { Injectable } from '@nestjs/common';
import { ComputersFromLog } from '../computer-list/computers-from-log.js';
import { ComputersConfig } from '../config.js';
import { ComputerHosts, type Placed } from '../host/computer-hosts.js';
import { Admission, ownerOf } from './admission.js';
import { ComputerCommandHandler } from './computer.command-handler.js';
import {
  cannotStart,
  ComputerLifecycle,
  computerUnavailable,
  isHostUnavailable,
} from './computer-lifecycle.js';

/** After this time a transition returns the computer in its current state, unsettled (202). */
const SETTLE_MS = 60_000;

/** Wake and sleep at the owner's request. Repeating a request has no effect. */
@Injectable()
export class Transitions {
  constructor(
    private readonly computers: ComputerCommandHandler,
    private readonly fromLog: ComputersFromLog,
    private readonly lifecycle: ComputerLifecycle,
    private readonly admission: Admission,
    private readonly hosts: ComputerHosts,
    private readonly config: ComputersConfig,
  ) {}

  /** Also tries to start a computer that has failed. */
  async wake(request: ComputerRef): Promise<ComputerTransition> {
    const { accountId, computerId } = request;
    await this.admission.admit(ownerOf(await this.fromLog.load(accountId, computerId)));
    const command = { type: 'Wake', refusedEpoch: null, retry: true, at: now() } as const;
    await this.computers.handle(computerId, command, request);
    return this.settle(request, 'starting');
  }

  /** Freezes a running computer if warm sleep is enabled; any other one is stopped and sleeps cold. */
  async sleep(request: ComputerRef): Promise<ComputerTransition> {
    const { accountId, computerId } = request;
    await this.fromLog.load(accountId, computerId);
    const warm = this.config.warmSleepSeconds > 0;
    const { events } = await this.computers.handle(computerId, { type: 'Sleep', warm, at: now() }, request);
    const requested = events.find((event) => event.type === 'ComputerSleepRequested');
    if (requested !== undefined) await this.freeze(requested.data, request);
    return this.settle(request, 'stopping');
  }

  private async freeze(placed: Placed, request: ComputerRef): Promise<void> {
    const { computerId, epoch } = placed;
    // A frozen socket would stay open, and the host waits for what is in flight.
    await this.hosts.closeViewers(placed, null).catch(() => undefined);
    const outcome = await this.hosts.freeze(placed).catch((error: unknown) => {
      throw isDomainError(error, 'unavailable') || isDomainError(error, 'timeout')
        ? computerUnavailable('The machine of the computer does not respond; try again.', error)
        : error;
    });
    // A concurrent wake won.
    if (outcome === 'overtaken') return;
    if (outcome === 'gone') {
      const stop = { type: 'Stop', reason: 'requested', epoch, at: now() } as const;
      await this.computers.handle(computerId, stop, stepOf(request, 'stop'));
      return;
    }
    const asleep = { type: 'FallAsleep', epoch, depth: 'warm', reason: 'requested', at: now() } as const;
    await this.computers.handle(computerId, asleep, stepOf(request, 'frozen'));
  }

  private async settle(
    request: ComputerRef,
    unsettled: 'starting' | 'stopping',
  ): Promise<ComputerTransition> {
    const { accountId, computerId } = request;
    const driven = await within(SETTLE_MS, this.lifecycle.drive(computerId), null);
    if (driven?.settled === false && isHostUnavailable(driven.error)) throw cannotStart(driven.error);
    const { life } = await this.fromLog.load(accountId, computerId);
    return { computer: await this.fromLog.view(accountId, computerId), settled: life.state !== unsettled };
  }
}

const now = (): string => isoTime(Date.now());
