import { AgentClient } from '@berth/agent-client';
import { AccountSuspensions, EndUserSuspensions, HostHearing, OwnerSuspensionQuery } from '@berth/boxes';
import { accountsRequests } from '@berth/contracts/accounts';
import { Requester } from '@berth/messaging';
import { OperatorSettings } from '@berth/operator-file';
import { SecretBox } from '@berth/persistence';
import { EndUserKeys, KeptKeys, ResourceOwners } from '@berth/personal-data';
import { PlatformModule, ProjectionModule, ServiceContext } from '@berth/service';
import { Module } from '@nestjs/common';
import { Claims } from './claim/claims.js';
import { ComputerOfEndUserStreams } from './claim/computer-of-end-user.streams.js';
import { Admission } from './computer/admission.js';
import { ComputerCommandHandler } from './computer/computer.command-handler.js';
import { ComputerCreation } from './computer/computer-creation.js';
import { ComputerDeletion } from './computer/computer-deletion.js';
import { ComputerLifecycle } from './computer/computer-lifecycle.js';
import { ComputerPlacement } from './computer/computer-placement.js';
import { ComputerProfiles } from './computer/computer-profiles.js';
import { ComputerNatsController } from './computer/computer.nats-controller.js';
import { ComputerStreams } from './computer/computer.streams.js';
import { EnsureAwakeHandler } from './computer/ensure-awake.js';
import { NewComputers } from './computer/new-computers.js';
import { Transitions } from './computer/transitions.js';
import { ComputerActivity } from './computer-list/computer-activity.js';
import { COMPUTER_LIST, computerListProjection } from './computer-list/computer-list.projection.js';
import { ComputerListQuery } from './computer-list/computer-list.query.js';
import { ComputersFromLog } from './computer-list/computers-from-log.js';
import { ComputersConfig, readComputersConfig } from './config.js';
import { AnnounceHostHandler } from './host/announce-host.js';
import { ComputerHostDirectory } from './host/computer-host-directory.js';
import { ComputerHosts } from './host/computer-hosts.js';
import { HostNatsController } from './host/host.nats-controller.js';
import { RemovedHosts } from './host/removed-hosts.js';
import { ObservationHandler } from './host/report-observation.js';
import { migrations } from './migrations/migrations.js';
import { ComputerOwners } from './personal-data/computer-owners.js';
import { ComputersAddon } from './plan/computers-addon.js';
import { RememberRevokedKeys } from './react/remember-revoked-keys.js';
import { RememberSuspendedAccounts } from './react/remember-suspended-accounts.js';
import { RememberSuspendedEndUsers } from './react/remember-suspended-end-users.js';
import { EndUserStandingNatsController } from './suspension/end-user-standing.nats-controller.js';
import { ComputerReconciler } from './timers/computer-reconciler.js';
import { ComputerTimeouts } from './timers/computer-timeouts.js';
import { DueComputersQuery } from './timers/due-computers.query.js';
import { LostHosts } from './timers/lost-hosts.js';
import { AwakeComputers } from './use/awake-computers.js';
import { ComputerTransfers } from './use/computer-transfers.js';
import { ComputerUseStreams } from './use/computer-use.streams.js';
import { RunCommandHandler } from './use/run-command.js';
import { ScreenshotCounter } from './use/screenshot-counter.js';
import { UseNatsController } from './use/use.nats-controller.js';
import { WriteFileHandler } from './use/write-file.js';
import { CloseSessionsHandler } from './viewer/close-sessions.js';
import { SessionReconciler } from './viewer/session-reconciler.js';
import { ViewerSessionLog } from './viewer/viewer-session-log.js';
import { ViewerSessions } from './viewer/viewer-sessions.js';
import { ViewerSessionsQuery } from './viewer/viewer-sessions.query.js';
import { ViewerSessionStreams } from './viewer/viewer-session.streams.js';
import { ViewerSockets } from './viewer/viewer-sockets.js';
import { ViewerNatsController } from './viewer/viewer.nats-controller.js';

@Module({
  imports: [
    PlatformModule.forService({
      name: 'computers',
      config: ComputersConfig,
      readConfig: readComputersConfig,
      tables: { migrations },
      streams: { consumes: ['accounts', 'end-users'] },
    }),
    ProjectionModule.forFeatureAsync(COMPUTER_LIST, {
      inject: [ComputersConfig],
      useFactory: ({ keyring }: ComputersConfig) => computerListProjection(new SecretBox(keyring)),
    }),
  ],
  controllers: [
    ComputerNatsController,
    EndUserStandingNatsController,
    HostNatsController,
    UseNatsController,
    ViewerNatsController,
  ],
  providers: [
    ComputerStreams,
    ComputerCommandHandler,
    ComputerLifecycle,
    ComputerPlacement,
    ComputerProfiles,
    NewComputers,
    ComputerCreation,
    ComputerDeletion,
    Transitions,
    EnsureAwakeHandler,
    ComputerOfEndUserStreams,
    Claims,

    OwnerSuspensionQuery,
    ComputersAddon,
    Admission,
    AccountSuspensions,
    EndUserSuspensions,
    RememberSuspendedAccounts,
    RememberSuspendedEndUsers,
    RememberRevokedKeys,

    EndUserKeys,
    KeptKeys,
    ResourceOwners,
    ComputerOwners,

    ComputerActivity,
    ComputersFromLog,
    ComputerListQuery,

    AgentClient,
    RemovedHosts,
    ComputerHosts,
    ComputerHostDirectory,
    HostHearing,
    AnnounceHostHandler,
    ObservationHandler,

    ComputerUseStreams,
    AwakeComputers,
    ScreenshotCounter,
    ComputerTransfers,
    RunCommandHandler,
    WriteFileHandler,

    ViewerSessionStreams,
    ViewerSessionLog,
    ViewerSessions,
    ViewerSessionsQuery,
    ViewerSockets,
    CloseSessionsHandler,
    SessionReconciler,

    DueComputersQuery,
    ComputerTimeouts,
    ComputerReconciler,
    LostHosts,

    {
      provide: SecretBox,
      inject: [ComputersConfig],
      useFactory: ({ keyring }: ComputersConfig) => new SecretBox(keyring),
    },
    {
      provide: OperatorSettings,
      inject: [ComputersConfig, ServiceContext, Requester],
      useFactory: (
        { operator }: ComputersConfig,
        { resources, log }: ServiceContext,
        requester: Requester,
      ) => {
        const findPlansInUse = async () => (await requester.request(accountsRequests.plansInUse, {})).planIds;
        resources.defer(operator.rereadOnHangUp(log, findPlansInUse));
        return operator;
      },
    },
  ],
})
export class ComputersModule {}
