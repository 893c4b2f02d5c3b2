import { OperatorSettings } from '@berth/operator-file';
import { PlatformModule, ServiceContext } from '@berth/service';
import { Module } from '@nestjs/common';
import { AgentRecords } from './agent/agent-record.js';
import { AgentStarter } from './agent/agent-starter.js';
import { HostTemplates } from './agent/host-templates.js';
import { StartCodes } from './agent/start-codes.js';
import { Builds } from './build/builds.js';
import { BuildsNatsController } from './build/builds.nats-controller.js';
import { VersionBuild } from './build/version-build.js';
import { VersionStore } from './build/version-store.js';
import { HostedAgents } from './agent/hosted-agents.js';
import { ApiSockets } from './api/api-sockets.js';
import { checkHost, readRuntimeConfig, RuntimeConfig } from './config.js';
import { dataFolderLock } from './data-folder-lock.js';
import { Deliveries } from './delivery/deliveries.js';
import { DeliveryJournal } from './delivery/delivery-journal.js';
import { driverProvider } from './driver/driver.provider.js';
import { ExecutionJournal } from './execution/execution-journal.js';
import { ExecutionsNatsController } from './execution/executions.nats-controller.js';
import { HostExecutions } from './execution/host-executions.js';
import { DiskGuard } from './disk/disk-guard.js';
import { DiskPromises } from './disk/disk-promises.js';
import { hostId } from './host-id.js';
import { HostPresence } from './host-presence.js';
import { AgentLogs } from './logs/agent-logs.js';
import { SystemLog } from './logs/system-log.js';
import { ActivityReporter } from './report/activity-reporter.js';
import { AgentReports } from './report/agent-reports.js';
import { HostAnnouncer } from './report/host-announcer.js';
import { HostDescription } from './report/host-description.js';
import { HostFigureReader } from './report/host-figures.js';
import { HostLog } from './report/host-log.js';
import { ObservationReporter } from './report/observation-reporter.js';
import { RevokedCredential } from './report/revoked-credential.js';
import { RuntimeNatsController } from './runtime.nats-controller.js';
import { SchedulePolls } from './schedules/schedule-polls.js';
import { DataPort } from './transfer/data-port.js';
import { TransferTickets } from './transfer/transfer-tickets.js';
import { Transfers } from './transfer/transfers.js';
import { UsageNatsController } from './usage/usage.nats-controller.js';
import { TransfersNatsController } from './transfer/transfers.nats-controller.js';

@Module({
  imports: [
    PlatformModule.forService({
      name: 'runtime',
      config: RuntimeConfig,
      readConfig: readRuntimeConfig,
      eventLog: false,
      host: async (config) => {
        await checkHost(config);
        return hostId(config.dataDir, config.hostId);
      },
    }),
  ],
  controllers: [
    RuntimeNatsController,
    BuildsNatsController,
    UsageNatsController,
    ExecutionsNatsController,
    TransfersNatsController,
  ],
  providers: [
    dataFolderLock,
    driverProvider,
    {
      provide: HostTemplates,
      inject: [RuntimeConfig],
      useFactory: ({ templateFolders }: RuntimeConfig) => HostTemplates.read(templateFolders),
    },
    VersionStore,
    VersionBuild,
    Builds,
    StartCodes,
    {
      provide: OperatorSettings,
      inject: [RuntimeConfig, ServiceContext],
      useFactory: ({ operator }: RuntimeConfig, { resources, log }: ServiceContext) => {
        resources.defer(operator.rereadOnHangUp(log));
        return operator;
      },
    },
    AgentRecords,
    ApiSockets,
    AgentStarter,
    HostedAgents,
    Deliveries,
    DeliveryJournal,
    ExecutionJournal,
    HostExecutions,
    AgentLogs,
    SystemLog,
    ObservationReporter,
    ActivityReporter,
    SchedulePolls,
    AgentReports,
    {
      provide: HostLog,
      inject: [RuntimeConfig],
      useFactory: ({ dataDir }: RuntimeConfig) => HostLog.open(dataDir),
    },
    HostFigureReader,
    HostDescription,
    HostAnnouncer,
    HostPresence,
    RevokedCredential,
    { provide: TransferTickets, useFactory: () => new TransferTickets() },
    Transfers,
    DataPort,
    DiskGuard,
    DiskPromises,
  ],
})
export class RuntimeModule {}
