import { AgentClient } from '@berth/agent-client';
import { PlatformModule, ProjectionModule, RelayModule } from '@berth/service';
import { Module } from '@nestjs/common';
import { ExecConfig, readExecConfig } from './config.js';
import { ExecNatsController } from './exec.nats-controller.js';
import { executionListProjection } from './execution-list/execution-list.projection.js';
import { ExecutionListQuery } from './execution-list/execution-list.query.js';
import { CancelCommandHandler } from './execution/cancel.command-handler.js';
import { executionCodec } from './execution/execution.events.js';
import { ExecutionQuery } from './execution/execution.query.js';
import { ExecutionRepository } from './execution/execution.repository.js';
import { ExecutionStreams } from './execution/execution.streams.js';
import { FollowedExecutions } from './execution/followed-executions.js';
import { ExecutionHosts } from './host/execution-host.js';
import { createExecTables } from './migrations/2026-11-21-exec.js';
import { FollowOutputHandler } from './open/follow-output.js';
import { OpenConsoleHandler } from './open/open-console.js';
import { OlderExecutionStreams } from './older-execution/older-execution.streams.js';
import { OutputVault } from './output/output-vault.js';
import { toContractEvent } from './publish/to-contract-event.js';
import { AgentEndings } from './react/agent-endings.js';
import { EndExecutionsWhenAgentEnds } from './react/end-executions-when-agent-ends.js';
import { AcceptedPositions } from './submission/accepted-positions.js';
import { AgentDispatcher } from './submission/agent-dispatcher.js';
import { EarlierSubmission } from './submission/earlier-submission.js';
import { ExecutionSubmission } from './submission/execution-submission.js';
import { OlderGuest } from './submission/older-guest.js';
import { RefusalRecorder } from './submission/refusal-recorder.js';
import { ReroutedExecutions } from './submission/rerouted-executions.js';
import { SubmitCommandHandler } from './submission/submit.command-handler.js';
import { Wake } from './submission/wake.js';
import { Reconciler } from './timers/reconciler.js';
import { RunningExecutionsQuery } from './timers/running-executions.query.js';
import { Settlement } from './timers/settlement.js';
import { Sweep } from './timers/sweep.js';

/** Only lists wait for this projection. Every command writes two events, so a short delay makes larger batches. */
const GATHER_MS = 50;

@Module({
  imports: [
    PlatformModule.forService({
      name: 'exec',
      config: ExecConfig,
      readConfig: readExecConfig,
      tables: { migrations: [createExecTables] },
      streams: { publishes: ['exec'], consumes: ['agents'] },
    }),
    ProjectionModule.forFeature(executionListProjection, { gatherMs: GATHER_MS }),
    RelayModule.forFeature({ categories: [executionCodec.category], toContractEvent }),
  ],
  controllers: [ExecNatsController],
  providers: [
    AgentClient,
    ExecutionStreams,
    ExecutionRepository,
    ExecutionHosts,
    OutputVault,
    Wake,
    ReroutedExecutions,
    AcceptedPositions,
    FollowedExecutions,
    RefusalRecorder,
    AgentDispatcher,
    EarlierSubmission,
    OlderExecutionStreams,
    OlderGuest,
    ExecutionSubmission,
    SubmitCommandHandler,
    ExecutionQuery,
    CancelCommandHandler,
    ExecutionListQuery,
    FollowOutputHandler,
    OpenConsoleHandler,
    Settlement,
    RunningExecutionsQuery,
    AgentEndings,
    Sweep,
    Reconciler,
    EndExecutionsWhenAgentEnds,
  ],
})
export class ExecModule {}
