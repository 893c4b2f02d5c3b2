import { AgentClient } from '@berth/agent-client';
import { accountsRequests } from '@berth/contracts/accounts';
import { Requester } from '@berth/messaging';
import { SecretBox } from '@berth/persistence';
import { EndUserKeys, KeptKeys, ResourceOwners } from '@berth/personal-data';
import { OperatorSettings } from '@berth/operator-file';
import { PlatformModule, ProjectionModule, RelayModule, ServiceContext } from '@berth/service';
import { Module } from '@nestjs/common';
import { NextWakeNatsController } from './next-wake/next-wake.nats-controller.js';
import { NextWakes } from './next-wake/next-wakes.js';
import { RememberNextWakes } from './react/remember-next-wakes.js';
import { AgentTokenNatsController } from './self/agent-token.nats-controller.js';
import { AuthenticateAgentQuery } from './self/authenticate-agent.query.js';
import { AgentActivity } from './agent-list/agent-activity.js';
import { EndUserUses } from './agent-list/end-user-uses.js';
import { AGENT_LIST, agentListProjection } from './agent-list/agent-list.projection.js';
import { AgentListQuery } from './agent-list/agent-list.query.js';
import { AgentsFromLog } from './agent-list/agents-from-log.js';
import { Admission, OwnerAdmission } from './agent/admission.js';
import { AddresseeNatsController } from './agent/addressee.nats-controller.js';
import { AddresseeQuery } from './agent/addressee.query.js';
import { AgentCommandHandler } from './agent/agent.command-handler.js';
import { agentCodec } from './agent/agent.events.js';
import { AgentNatsController } from './agent/agent.nats-controller.js';
import { AgentStreams } from './agent/agent.streams.js';
import { AgentLifecycle } from './agent/agent-lifecycle.js';
import { AgentsOfEndUsers } from './agent/agents-of-end-users.js';
import { AgentsOfEndUsersNatsController } from './agent/agents-of-end-users.nats-controller.js';
import { AgentMetrics } from './agent/agent-metrics.js';
import { AgentProfiles } from './agent/agent-profiles.js';
import { AgentCreation } from './agent/create-agent.js';
import { AgentLimit } from './plan/agent-limit.js';
import { AgentSeats } from './plan/agent-seats.js';
import { CreationAttempts } from './agent/creation-attempts.js';
import { CreationResources } from './agent/creation-resources.js';
import { CreationRollback } from './agent/creation-rollback.js';
import { CreationTiming } from './agent/creation-timing.js';
import { AgentDeletion } from './agent/delete-agent.js';
import { EnsureAwakeHandler } from './agent/ensure-awake.js';
import { StartRecipe } from './agent/start-recipe.js';
import { Transitions } from './agent/transitions.js';
import { AppNatsController } from './app/app.nats-controller.js';
import { OpenAppHandler } from './app/open-app.js';
import { CapRule } from './caps/cap-rule.js';
import { WakeLedger } from './caps/wake-ledger.js';
import { AgentsConfig, readAgentsConfig } from './config.js';
import { DeploymentListQuery } from './deployment-list/deployment-list.query.js';
import { deploymentListProjection } from './deployment-list/deployment-list.projection.js';
import { DeployCommandHandler } from './deployment/deploy.command-handler.js';
import { DeploymentCommandHandler } from './deployment/deployment.command-handler.js';
import { DeploymentNatsController } from './deployment/deployment.nats-controller.js';
import { BuildSecrets } from './deployment/build-secrets.js';
import { DeploymentProgress } from './deployment/deployment-progress.js';
import { DeploymentStreams } from './deployment/deployment.streams.js';
import { RequestedOrigins } from './deployment/requested-origins.js';
import { UnfinishedDeployments } from './deployment/unfinished-deployments.js';
import { VersionRollout } from './deployment/version-rollout.js';
import { AgentEnvStreams } from './env/agent-env.streams.js';
import { EnvCommandHandler } from './env/env.command-handler.js';
import { EnvHistory } from './env/env-history.js';
import { EnvNatsController } from './env/env.nats-controller.js';
import { EnvVault } from './env/env-vault.js';
import { AnnounceHostHandler } from './host/announce-host.js';
import { HostCommandHandler } from './host/host.command-handler.js';
import { HostDirectory } from './host/host-directory.js';
import { HostHearing, AccountSuspensions, EndUserSuspensions, OwnerSuspensionQuery } from '@berth/boxes';
import { hostListProjection } from './host/host-list.projection.js';
import { HostListQuery } from './host/host-list.query.js';
import { HostProbe } from './host/host-probe.js';
import { HostRegistration } from './host/host-registration.js';
import { HostStreams } from './host/host.streams.js';
import { OperatorHostsNatsController } from './host/operator-hosts.nats-controller.js';
import { HostNatsController } from './host/host.nats-controller.js';
import { Placement } from './host/placement.js';
import { ObservationHandler } from './host/report-observation.js';
import { migrations } from './migrations/migrations.js';
import { AgentIdentities } from './personal-data/agent-identities.js';
import { VariableNames } from './personal-data/variable-names.js';
import { PersonalDataNatsController } from './personal-data/personal-data.nats-controller.js';
import { IdleTimes } from './policy/idle-times.js';
import { Policies } from './policy/policies.js';
import { PolicyNatsController } from './policy/policy.nats-controller.js';
import { toContractEvent } from './publish/to-contract-event.js';
import { RememberPolicies } from './react/remember-policies.js';
import { RememberSuspendedAccounts } from './react/remember-suspended-accounts.js';
import { RememberSuspendedEndUsers } from './react/remember-suspended-end-users.js';
import {
  AgentExternalIdStreams,
  AgentNameStreams,
  AgentOfEndUserStreams,
} from './reservation/reservation.streams.js';
import { Reservations } from './reservation/reservations.js';
import { EndUserStandingHandler } from './suspension/end-user-standing.handler.js';
import { EndUserStandingNatsController } from './suspension/end-user-standing.nats-controller.js';
import { TemplateCatalogue } from './templates/template-catalogue.js';
import { CapThresholdsStreams } from './thresholds/cap-thresholds.streams.js';
import { CapUseQuery } from './thresholds/cap-use.query.js';
import { AgentReconciler } from './timers/agent-reconciler.js';
import { CapThresholdTimer } from './timers/cap-threshold-timer.js';
import { DeploymentTimer } from './timers/deployment-timer.js';
import { AgentTimeouts } from './timers/agent-timeouts.js';
import { DueAgentsQuery } from './timers/due-agents.query.js';
import { LostHosts } from './timers/lost-hosts.js';
import { endUserUseProjection } from './use/end-user-use.projection.js';
import { SpendQuery } from './use/spend.query.js';

/**
 * No caller waits for `end-user-use`, and admissions know the wakes that it does not have yet. After this time a wake is
 * over, so that its events are one batch that does not compete with it.
 */
const GATHER_MS = 100;

@Module({
  imports: [
    PlatformModule.forService({
      name: 'agents',
      config: AgentsConfig,
      readConfig: readAgentsConfig,
      tables: { migrations },
      streams: { publishes: ['agents'], consumes: ['accounts', 'end-users', 'schedules'] },
    }),
    ProjectionModule.forFeatureAsync(AGENT_LIST, {
      inject: [AgentsConfig],
      useFactory: ({ keyring }: AgentsConfig) => agentListProjection(new SecretBox(keyring)),
    }),
    ProjectionModule.forFeature(deploymentListProjection),
    ProjectionModule.forFeature(hostListProjection),
    ProjectionModule.forFeature(endUserUseProjection, { gatherMs: GATHER_MS }),
    RelayModule.forFeature({ categories: [agentCodec.category], toContractEvent }),
  ],
  controllers: [
    AddresseeNatsController,
    AgentNatsController,
    AgentTokenNatsController,
    NextWakeNatsController,
    AgentsOfEndUsersNatsController,
    AppNatsController,
    DeploymentNatsController,
    EndUserStandingNatsController,
    EnvNatsController,
    HostNatsController,
    OperatorHostsNatsController,
    PersonalDataNatsController,
    PolicyNatsController,
  ],
  providers: [
    AgentStreams,
    AgentCommandHandler,
    AgentLifecycle,
    StartRecipe,
    AgentDeletion,
    Transitions,
    OwnerSuspensionQuery,
    WakeLedger,
    CapRule,
    { provide: Admission, useClass: OwnerAdmission },
    EnsureAwakeHandler,
    AddresseeQuery,
    AccountSuspensions,
    RememberSuspendedAccounts,
    EndUserSuspensions,
    EndUserStandingHandler,
    RememberSuspendedEndUsers,
    Policies,
    IdleTimes,
    RememberPolicies,
    SpendQuery,
    AgentMetrics,

    CreationTiming,
    CreationAttempts,
    CreationResources,
    CreationRollback,
    AgentProfiles,
    AgentCreation,
    AgentsOfEndUsers,
    AgentNameStreams,
    AgentExternalIdStreams,
    AgentOfEndUserStreams,
    Reservations,

    AgentClient,
    OpenAppHandler,

    EndUserKeys,
    KeptKeys,
    AgentIdentities,
    ResourceOwners,
    VariableNames,

    AuthenticateAgentQuery,
    NextWakes,
    RememberNextWakes,

    AgentActivity,
    EndUserUses,
    AgentsFromLog,
    AgentListQuery,

    AgentEnvStreams,
    EnvHistory,
    EnvCommandHandler,
    EnvVault,
    {
      provide: SecretBox,
      inject: [AgentsConfig],
      useFactory: ({ keyring }: AgentsConfig) => new SecretBox(keyring),
    },

    HostStreams,
    HostProbe,
    HostDirectory,
    HostHearing,
    HostCommandHandler,
    HostListQuery,
    HostRegistration,
    Placement,
    AnnounceHostHandler,
    ObservationHandler,

    {
      provide: TemplateCatalogue,
      inject: [AgentsConfig],
      useFactory: ({ templateFolders }: AgentsConfig) => TemplateCatalogue.read(templateFolders),
    },

    DeploymentStreams,
    DeploymentCommandHandler,
    DeploymentListQuery,
    UnfinishedDeployments,
    BuildSecrets,
    RequestedOrigins,
    VersionRollout,
    DeploymentProgress,
    DeployCommandHandler,
    AgentSeats,
    AgentLimit,
    {
      provide: OperatorSettings,
      inject: [AgentsConfig, ServiceContext, Requester],
      useFactory: ({ operator }: AgentsConfig, { resources, log }: ServiceContext, requester: Requester) => {
        const findPlansInUse = async () => (await requester.request(accountsRequests.plansInUse, {})).planIds;
        resources.defer(operator.rereadOnHangUp(log, findPlansInUse));
        return operator;
      },
    },

    DueAgentsQuery,
    AgentTimeouts,
    AgentReconciler,
    LostHosts,
    DeploymentTimer,

    CapUseQuery,
    CapThresholdsStreams,
    CapThresholdTimer,
  ],
})
export class AgentsModule {}
