import type { ComputerView, CreateComputer, CreatedComputer } from '@berth/contracts/computers';
import { Clock, detach, isoTime, stepOf } from '@berth/kernel';
import type { PersonalKey } from '@berth/personal-data';
import { Injectable } from '@nestjs/common';
import { ComputersFromLog } from '../computer-list/computers-from-log.js';
import { ComputerCommandHandler } from './computer.command-handler.js';
import { ComputerLifecycle } from './computer-lifecycle.js';
import { ComputerPlacement } from './computer-placement.js';
import { ComputerProfiles } from './computer-profiles.js';
import type { ComputerWithRow } from './computer.streams.js';
import { computerNotFound } from './decide-requested.js';

/** Creates single computers, under a given id. */
@Injectable()
export class NewComputers {
  constructor(
    private readonly profiles: ComputerProfiles,
    private readonly placement: ComputerPlacement,
    private readonly computers: ComputerCommandHandler,
    private readonly lifecycle: ComputerLifecycle,
    private readonly fromLog: ComputersFromLog,
    private readonly clock: Clock,
  ) {}

  /** Errors: see `ComputerProfiles.enlist`. */
  enlist(request: CreateComputer): Promise<PersonalKey | null> {
    return this.profiles.enlist(request);
  }

  load(computerId: string): Promise<ComputerWithRow> {
    return this.computers.loadWithRow(computerId);
  }

  view({ accountId }: CreateComputer, found: ComputerWithRow): Promise<ComputerView> {
    return this.fromLog.viewOf(accountId, found);
  }

  /**
   * Creates the computer unless it exists; `created` says whether this command has created it, now or earlier. Errors:
   * those of `ComputerPlacement`; not_found `computer_not_found` if it or its end user was deleted in the meantime.
   */
  async create(
    request: CreateComputer,
    key: PersonalKey | null,
    computerId: string,
  ): Promise<CreatedComputer> {
    const profile = this.profiles.of(request, key, computerId);
    const { computer } = await this.computers.loadWithRow(computerId);
    // Whether this command has created it shows only when it is sent again.
    const host = computer.status === 'live' ? computer.host : await this.placement.place(computerId, profile);
    const { events, ...after } = await this.computers.handle(
      computerId,
      { type: 'Create', computerId, profile, host, at: isoTime(this.clock.now()) },
      request,
    );
    const created = events.length > 0;
    if (created) await this.complete(request, computerId);
    return { computer: await this.fromLog.viewOf(request.accountId, after), created };
  }

  /** A computer whose owner was deleted while it was being created is deleted, too. */
  private async complete(request: CreateComputer, computerId: string): Promise<void> {
    const { computer } = await this.computers.loadWithRow(computerId);
    if (computer.status !== 'live') throw computerNotFound();
    const exists = await this.profiles.createOwner(request, computer.profile);
    if (!exists) {
      const command = { type: 'RequestDeletion', at: isoTime(this.clock.now()) } as const;
      await this.computers.handle(computerId, command, stepOf(request, 'revoke'));
    }
    detach(this.lifecycle.drive(computerId));
    if (!exists) throw computerNotFound();
  }
}
