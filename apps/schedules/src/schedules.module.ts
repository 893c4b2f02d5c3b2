import { AgentClient } from '@berth/agent-client';
import { EndUserKeys } from '@berth/personal-data';
import { PlatformModule, ProjectionModule, RelayModule } from '@berth/service';
import { Module } from '@nestjs/common';
import { dueListProjection } from './due-list/due-list.projection.js';
import { DueListQuery } from './due-list/due-list.query.js';
import { OwnersOfAgents } from './entries/owners-of-agents.js';
import { SealedPrompts } from './entries/sealed-prompts.js';
import { FireCommandHandler } from './fire/fire.command-handler.js';
import { FiringTimer } from './fire/firing-timer.js';
import { HandOverAttempt } from './fire/hand-over-attempt.js';
import { HandOvers } from './fire/hand-overs.js';
import { ScheduleListQuery } from './list/schedule-list.query.js';
import { NextWakes } from './publish/next-wakes.js';
import { PublishCommandHandler } from './publish/publish.command-handler.js';
import { ForgetSchedulesOfDeletedAgents } from './react/forget-schedules-of-deleted-agents.js';
import { scheduleCodec, toContractEvent } from './schedule/schedule.events.js';
import { ScheduleStreams } from './schedule/schedule.streams.js';
import { SchedulesNatsController } from './schedules.nats-controller.js';

@Module({
  imports: [
    PlatformModule.forService({
      name: 'schedules',
      tables: { migrations: [] },
      streams: { publishes: ['schedules'], consumes: ['agents'] },
    }),
    ProjectionModule.forFeature(dueListProjection),
    RelayModule.forFeature({ categories: [scheduleCodec.category], toContractEvent }),
  ],
  controllers: [SchedulesNatsController],
  providers: [
    ScheduleStreams,
    EndUserKeys,
    OwnersOfAgents,
    SealedPrompts,
    DueListQuery,
    NextWakes,
    PublishCommandHandler,
    ScheduleListQuery,
    AgentClient,
    FireCommandHandler,
    HandOverAttempt,
    HandOvers,
    FiringTimer,
    ForgetSchedulesOfDeletedAgents,
  ],
})
export class SchedulesModule {}
