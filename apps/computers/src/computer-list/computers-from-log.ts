import type { ComputerView } from '@berth/contracts/computers';
import { isId } from '@berth/kernel';
import { KeptKeys } from '@berth/personal-data';
import { Injectable } from '@nestjs/common';
import { ComputerCommandHandler } from '../computer/computer.command-handler.js';
import type { ComputerWithRow } from '../computer/computer.streams.js';
import type { Computer, LiveComputer } from '../computer/computer.js';
import { computerNotFound } from '../computer/decide-requested.js';
import { identityFrom } from '../personal-data/computer-identity.js';
import { ComputerActivity } from './computer-activity.js';
import { identityColumns } from './computer-row.js';
import { viewOf, type Activity } from './computer-view.js';

/**
 * Computers folded from their log, independent of the list: the results of commands, and the fallback of reads while the
 * list does not contain the computer yet.
 */
@Injectable()
export class ComputersFromLog {
  constructor(
    private readonly computers: ComputerCommandHandler,
    private readonly activity: ComputerActivity,
    private readonly keys: KeptKeys,
  ) {}

  /** Errors: not_found `computer_not_found`, also for another account's computer and for one that is being deleted. */
  async load(accountId: string, computerId: string): Promise<LiveComputer> {
    if (!isId('cmp', computerId)) throw computerNotFound();
    return ofAccount(await this.computers.load(computerId), accountId);
  }

  /** Errors: as `load`. */
  async view(accountId: string, computerId: string): Promise<ComputerView> {
    if (!isId('cmp', computerId)) throw computerNotFound();
    return this.viewOf(accountId, await this.computers.loadWithRow(computerId));
  }

  /** Errors: as `load`. */
  async viewOf(accountId: string, { computer, row }: ComputerWithRow): Promise<ComputerView> {
    const { computerId, profile } = ofAccount(computer, accountId);
    const { personal } = profile;
    const [key, activity] = await Promise.all([
      personal.endUserId === null ? null : this.keys.find(personal.endUserId),
      this.lastUse(computerId),
    ]);
    const identity = identityFrom(key, computerId, personal);
    // Its end user is deleted, and it with it.
    if (row === null || identity === null) throw computerNotFound();
    return viewOf({ ...row, ...identityColumns(identity) }, activity);
  }

  /** While the tables are unavailable, the view shows the last start instead. */
  private lastUse(computerId: string): Promise<Activity | null> {
    return this.activity.of(computerId).catch(() => null);
  }
}

const ofAccount = (computer: Computer, accountId: string): LiveComputer => {
  if (computer.status === 'live' && computer.profile.accountId === accountId) return computer;
  throw computerNotFound();
};
