import type { AwakeAgent } from '@berth/contracts/agents';
import type { ComputerRef } from '@berth/contracts/computers';
import { detach, DomainError, isDomainError, isoTime, stepOf } from '@berth/kernel';
import { pause, within } from '@berth/supervision';
import { Logger } from '@berth/telemetry';
import { Injectable } from '@nestjs/common';
import { ComputerActivity } from '../computer-list/computer-activity.js';
import { ComputersFromLog } from '../computer-list/computers-from-log.js';
import { Admission, ownerOf } from './admission.js';
import { ComputerCommandHandler } from './computer.command-handler.js';
import {
  cannotStart,
  ComputerLifecycle,
  computerUnavailable,
  isHostUnavailable,
} from './computer-lifecycle.js';
import type { LiveComputer } from './computer.js';

const WITHIN_MS = 60_000;
/** An unreachable host has this long to return before the caller gets an error. */
const UNREACHABLE_MS = 2_500;
const RETRY_MS = 250;

/** `refusedEpoch`: see `EnsureAwake`. */
export interface UseOfComputer extends ComputerRef {
  readonly refusedEpoch: number | null;
}

/** Returns the host and epoch of an awake computer; wakes it first if it sleeps. Concurrent callers cause one start. */
@Injectable()
export class EnsureAwakeHandler {
  constructor(
    private readonly computers: ComputerCommandHandler,
    private readonly fromLog: ComputersFromLog,
    private readonly lifecycle: ComputerLifecycle,
    private readonly admission: Admission,
    private readonly activity: ComputerActivity,
    private readonly log: Logger,
  ) {}

  /** Errors: those of `computersRequests` for whatever uses a computer. */
  async handle(request: UseOfComputer): Promise<AwakeAgent> {
    const { accountId, computerId } = request;
    const begun = Date.now();
    let { refusedEpoch } = request;
    for (let round = 0; Date.now() - begun < WITHIN_MS; round++) {
      const computer = await this.fromLog.load(accountId, computerId);
      // Also of one that runs: a suspension puts it to sleep only after a moment.
      await this.admission.admit(ownerOf(computer));
      if (computer.life.state === 'running' && computer.epoch !== refusedEpoch) return this.awake(computer);
      const wake = { type: 'Wake', refusedEpoch, retry: false, at: isoTime(Date.now()) } as const;
      // The same command comes again after its host has refused an epoch.
      const step = `wake:${String(request.refusedEpoch ?? 'first')}:${String(round)}`;
      await this.computers.handle(computerId, wake, stepOf(request, step));
      refusedEpoch = null;
      const left = Math.max(1, begun + WITHIN_MS - Date.now());
      const driven = await within(left, this.lifecycle.drive(computerId), null);
      if (driven === null || driven.settled) continue;
      if (isHostUnavailable(driven.error)) throw cannotStart(driven.error);
      if (Date.now() - begun > UNREACHABLE_MS && !isDomainError(driven.error, 'conflict'))
        throw computerUnavailable('The computer could not be woken; try again.', driven.error);
      await pause(RETRY_MS);
    }
    throw new DomainError(
      'conflict',
      'computer_starting',
      'The computer is starting; try again when it runs.',
      {},
      { effect: 'none' },
    );
  }

  private awake(computer: LiveComputer): AwakeAgent {
    const { computerId, epoch, host, profile } = computer;
    // Not awaited, so that the caller can use the computer at once.
    detach(
      this.activity
        .note(computer)
        .catch((error: unknown) =>
          this.log.warn({ computerId, err: error }, 'could not record a use of the computer'),
        ),
    );
    const guest = { version: '', capabilities: [] };
    return { agentId: computerId, endUserId: profile.personal.endUserId, host, epoch, guest };
  }
}
