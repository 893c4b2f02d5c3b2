import { ProjectionRunners } from '@berth/operations';
import { Supervisor } from '@berth/supervision';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { ServiceContext } from './service-context.js';

/**
 * Runs the projections of the service, and delays its start until their tables contain what the log held when it began.
 */
@Injectable()
export class CaughtUpProjections implements OnModuleInit {
  constructor(
    private readonly runners: ProjectionRunners,
    private readonly supervisor: Supervisor,
    private readonly context: ServiceContext,
  ) {}

  async onModuleInit(): Promise<void> {
    const entries = this.runners.entries();
    for (const [name, runner] of entries)
      this.supervisor.start(`projection ${name}`, (signal) => runner.run(signal));
    await Promise.all(entries.map(([, runner]) => runner.untilCaughtUp(this.context.startSignal)));
  }
}
