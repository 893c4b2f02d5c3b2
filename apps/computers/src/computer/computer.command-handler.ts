import type { ProjectionRunner } from '@berth/event-store';
import type { CommandEnvelope } from '@berth/kernel';
import { InjectProjection } from '@berth/service';
import { Injectable } from '@nestjs/common';
import { COMPUTER_LIST } from '../computer-list/computer-list.projection.js';
import type { ComputerCommand } from './computer.commands.js';
import { ComputerStreams, type ComputerWithRow } from './computer.streams.js';
import type { Computer, ComputerEvent } from './computer.js';

/** The origin of a command that the service gives to itself, after a host's report or by a timer. */
export const systemOrigin = (accountId: string, commandId: string): CommandEnvelope => ({
  commandId,
  accountId,
  actor: { kind: 'system', id: 'computers' },
});

/** Executes commands on computers, and waits (bounded) until the list shows the result. */
@Injectable()
export class ComputerCommandHandler {
  constructor(
    private readonly streams: ComputerStreams,
    @InjectProjection(COMPUTER_LIST) private readonly list: Pick<ProjectionRunner, 'waitFor'>,
  ) {}

  async load(computerId: string): Promise<Computer> {
    return (await this.streams.load(computerId)).state.computer;
  }

  /** The computer as this process knows it, if it does; other processes may have changed it since. */
  known(computerId: string): Computer | undefined {
    return this.streams.known(computerId)?.computer;
  }

  /** Both folded from the log, even if the list lags. */
  async loadWithRow(computerId: string): Promise<ComputerWithRow> {
    return (await this.streams.load(computerId)).state;
  }

  async handle(
    computerId: string,
    command: ComputerCommand,
    origin: CommandEnvelope,
  ): Promise<ComputerWithRow & { readonly events: readonly ComputerEvent[] }> {
    const { state, events, position } = await this.streams.handle(computerId, command, origin);
    // `waitFor` gives up after two seconds, and counts it; the result is returned anyway.
    if (position !== null) await this.list.waitFor(position);
    return { ...state, events };
  }
}
