import type { ComputerRef } from '@berth/contracts/computers';
import { detach, isDomainError, isoTime, stepOf, type CommandEnvelope } from '@berth/kernel';
import { KeptKeys } from '@berth/personal-data';
import { Injectable } from '@nestjs/common';
import { ComputerListQuery } from '../computer-list/computer-list.query.js';
import { ComputersFromLog } from '../computer-list/computers-from-log.js';
import { ComputerCommandHandler } from './computer.command-handler.js';
import { ComputerLifecycle } from './computer-lifecycle.js';

/** Deletes computers: decides; the removal from the host goes on in the background until it is done. */
@Injectable()
export class ComputerDeletion {
  constructor(
    private readonly computers: ComputerCommandHandler,
    private readonly fromLog: ComputersFromLog,
    private readonly lifecycle: ComputerLifecycle,
    private readonly list: ComputerListQuery,
    private readonly keys: KeptKeys,
  ) {}

  /** Once it resolves, every read returns not found, and the end user may have another computer. */
  async delete(request: ComputerRef): Promise<void> {
    await this.fromLog.load(request.accountId, request.computerId);
    await this.requestDeletion(request.computerId, request);
  }

  /** Deletes the computers of an end user, then the copy of its key. Idempotent. */
  async forgetEndUser({
    endUserId,
    ...origin
  }: CommandEnvelope & { readonly endUserId: string }): Promise<void> {
    for (const computerId of await this.list.ofEndUser(endUserId))
      await this.requestDeletion(computerId, stepOf(origin, `delete:${computerId}`)).catch(unlessGone);
    await this.keys.destroy(endUserId);
  }

  private async requestDeletion(computerId: string, origin: CommandEnvelope): Promise<void> {
    await this.computers.handle(computerId, { type: 'RequestDeletion', at: isoTime(Date.now()) }, origin);
    detach(this.lifecycle.drive(computerId));
  }
}

const unlessGone = (error: unknown): void => {
  if (!isDomainError(error, 'not_found')) throw error;
};
