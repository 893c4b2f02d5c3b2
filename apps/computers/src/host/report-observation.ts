import type { ReportObservation } from '@berth/contracts/agents';
import { detach, isoTime } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { ComputerCommandHandler, systemOrigin } from '../computer/computer.command-handler.js';
import type { ComputerCommand } from '../computer/computer.commands.js';
import { ComputerLifecycle } from '../computer/computer-lifecycle.js';

/** Turns the observations of hosts into commands; those of an old epoch, or about a computer of another host, have no effect. */
@Injectable()
export class ObservationHandler {
  constructor(
    private readonly computers: ComputerCommandHandler,
    private readonly lifecycle: ComputerLifecycle,
  ) {}

  async observe(report: ReportObservation): Promise<void> {
    const { host, agentId: computerId, epoch, observation } = report;
    const computer = await this.computers.load(computerId);
    if (computer.status !== 'live' || computer.host !== host) return;
    const command = toCommand(report);
    if (command === null) return;
    const origin = systemOrigin(
      computer.profile.accountId,
      `${computerId}/${String(epoch)}/${computer.since}/${observation.type}`,
    );
    await this.computers.handle(computerId, command, origin);
    detach(this.lifecycle.drive(computerId));
  }
}

const toCommand = ({ epoch, observation }: ReportObservation): ComputerCommand | null => {
  const at = isoTime(Date.now());
  switch (observation.type) {
    case 'asleep':
      return { type: 'FallAsleep', epoch, depth: observation.depth, reason: observation.reason, at };
    case 'exited':
      // Its next use starts it again.
      return { type: 'FallAsleep', epoch, depth: 'cold', reason: 'exited', at };
    case 'crash_loop':
      return { type: 'ReportCrashLoop', epoch, message: observation.message, at };
    case 'out_of_memory':
      // One of its programs; the desktop goes on.
      return null;
  }
};
