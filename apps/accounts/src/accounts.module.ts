import { OperatorSettings } from '@berth/operator-file';
import { PlatformModule, ProjectionModule, RelayModule, ServiceContext } from '@berth/service';
import { Module } from '@nestjs/common';
import { AccountAdministration } from './account/account.administration.js';
import { AccountCommandHandler } from './account/account.command-handler.js';
import { AccountNatsController } from './account/account.nats-controller.js';
import { AccountStreams } from './account/account.streams.js';
import { Plans } from './account/plans.js';
import { accountListProjection } from './account-list/account-list.projection.js';
import { AccountListQuery } from './account-list/account-list.query.js';
import { OwnAccountQuery } from './account-list/own-account.query.js';
import { PlansInUseQuery } from './account-list/plans-in-use.query.js';
import { AuthenticateNatsController } from './authenticate/authenticate.nats-controller.js';
import { AuthenticateQuery } from './authenticate/authenticate.query.js';
import { KeyUsage } from './authenticate/key-usage.js';
import { AccountsConfig, readAccountsConfig } from './config.js';
import { FeedbackCommandHandler } from './feedback/feedback.command-handler.js';
import { FeedbackListQuery } from './feedback/feedback-list.query.js';
import { FeedbackNatsController } from './feedback/feedback.nats-controller.js';
import { FeedbackStreams } from './feedback/feedback.streams.js';
import { FirstStart } from './installation/first-start.js';
import { InstallationStreams } from './installation/installation.streams.js';
import { Installer } from './installation/installer.js';
import { KeyCommandHandler } from './key/key.command-handler.js';
import { KeyNatsController } from './key/key.nats-controller.js';
import { KeyStreams } from './key/key.streams.js';
import { KeyVault } from './key/key-vault.js';
import { eventLogIdentity } from './key/event-log-identity.js';
import { KeyListNatsController } from './key-list/key-list.nats-controller.js';
import { keyListProjection } from './key-list/key-list.projection.js';
import { KeyListQuery } from './key-list/key-list.query.js';
import { KeyRow, KeyUsageRow } from './key-list/key-row.entity.js';
import { migrations } from './migrations.js';
import { PUBLISHED_CATEGORIES, toContractEvent } from './publish/to-contract-event.js';
import { KeyRecovery } from './recovery/key-recovery.js';
import { RecoverySocket } from './recovery/recovery-socket.js';
import { AccountStanding } from './standing/account-standing.js';

@Module({
  imports: [
    PlatformModule.forService({
      name: 'accounts',
      config: AccountsConfig,
      readConfig: readAccountsConfig,
      tables: { migrations, entities: [KeyRow, KeyUsageRow] },
      streams: { publishes: ['accounts'] },
    }),
    ProjectionModule.forFeature(keyListProjection),
    ProjectionModule.forFeature(accountListProjection),
    RelayModule.forFeature({ categories: PUBLISHED_CATEGORIES, toContractEvent }),
  ],
  controllers: [
    AccountNatsController,
    AuthenticateNatsController,
    FeedbackNatsController,
    KeyNatsController,
    KeyListNatsController,
  ],
  providers: [
    AccountStreams,
    AccountCommandHandler,
    AccountAdministration,
    AccountStanding,
    AccountListQuery,
    OwnAccountQuery,
    Plans,
    PlansInUseQuery,
    {
      provide: OperatorSettings,
      inject: [AccountsConfig, ServiceContext, PlansInUseQuery],
      useFactory: (
        { operator }: AccountsConfig,
        { resources, log }: ServiceContext,
        plans: PlansInUseQuery,
      ) => {
        resources.defer(operator.rereadOnHangUp(log, () => plans.run()));
        return operator;
      },
    },
    FeedbackStreams,
    FeedbackCommandHandler,
    FeedbackListQuery,
    KeyStreams,
    KeyCommandHandler,
    eventLogIdentity,
    KeyVault,
    KeyUsage,
    KeyListQuery,
    AuthenticateQuery,
    InstallationStreams,
    Installer,
    FirstStart,
    KeyRecovery,
    RecoverySocket,
  ],
})
export class AccountsModule {}
