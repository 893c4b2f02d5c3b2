import { SecretBox } from '@berth/persistence';
import { PlatformModule, ProjectionModule, RelayModule } from '@berth/service';
import { Module } from '@nestjs/common';
import { AgentsOfEndUser } from './agents-of-end-user.js';
import { ComputersOfEndUser } from './computers-of-end-user.js';
import { EndUsersConfig, readEndUsersConfig } from './config.js';
import { DefaultsCommandHandler } from './defaults/defaults.command-handler.js';
import { defaultsCodec } from './defaults/defaults.events.js';
import { DefaultsNatsController } from './defaults/defaults.nats-controller.js';
import { DefaultsStreams } from './defaults/defaults.streams.js';
import { EndUserCommandHandler } from './end-user/end-user.command-handler.js';
import { EndUserErasure } from './end-user/end-user-erasure.js';
import { endUserCodec } from './end-user/end-user.events.js';
import { EndUserNatsController } from './end-user/end-user.nats-controller.js';
import { EndUserStreams } from './end-user/end-user.streams.js';
import { EndUserWrites } from './end-user/end-user-writes.js';
import { UnfinishedErasures } from './end-user/unfinished-erasures.js';
import { END_USER_LIST, endUserListProjection } from './end-user-list/end-user-list.projection.js';
import { EndUserListQuery } from './end-user-list/end-user-list.query.js';
import { EndUserViews } from './end-user-list/end-user-views.js';
import { ExternalIdStreams } from './external-id/external-id.streams.js';
import { ExternalIds } from './external-id/external-ids.js';
import { LookupKey } from './external-id/lookup-key.js';
import { migrations } from './migrations.js';
import { PersonalKeyQuery } from './personal-data/personal-key.query.js';
import { PersonalKeys } from './personal-data/personal-keys.js';
import { PoliciesInAgents } from './policy/policies-in-agents.js';
import { PolicyCommandHandler } from './policy/policy.command-handler.js';
import { PolicyNatsController } from './policy/policy.nats-controller.js';
import { toContractEvent } from './publish/to-contract-event.js';
import { CreateOwnersOfAgents } from './react/create-owners-of-agents.js';
import { EndUserStanding } from './standing/end-user-standing.js';
import { AuthenticateTokenQuery } from './token/authenticate-token.query.js';
import { EndUserActivity } from './token/end-user-activity.js';
import { RequestRate } from './token/request-rate.js';
import { TokenCommandHandler } from './token/token.command-handler.js';
import { tokenCodec } from './token/token.events.js';
import { TokenNatsController } from './token/token.nats-controller.js';
import { TokenStreams } from './token/token.streams.js';
import { TokenVault } from './token/token-vault.js';

@Module({
  imports: [
    PlatformModule.forService({
      name: 'end-users',
      config: EndUsersConfig,
      readConfig: readEndUsersConfig,
      tables: { migrations },
      streams: { publishes: ['end-users'], consumes: ['agents'] },
    }),
    ProjectionModule.forFeatureAsync(END_USER_LIST, {
      inject: [EndUsersConfig],
      useFactory: ({ keyring }: EndUsersConfig) => endUserListProjection(new SecretBox(keyring)),
    }),
    RelayModule.forFeature({
      categories: [endUserCodec.category, tokenCodec.category, defaultsCodec.category],
      toContractEvent,
    }),
  ],
  controllers: [EndUserNatsController, TokenNatsController, PolicyNatsController, DefaultsNatsController],
  providers: [
    {
      provide: SecretBox,
      inject: [EndUsersConfig],
      useFactory: ({ keyring }: EndUsersConfig) => new SecretBox(keyring),
    },
    LookupKey,
    ExternalIdStreams,
    ExternalIds,
    PersonalKeys,
    PersonalKeyQuery,

    EndUserStreams,
    EndUserWrites,
    EndUserErasure,
    EndUserStanding,
    EndUserCommandHandler,
    UnfinishedErasures,
    CreateOwnersOfAgents,

    TokenStreams,
    TokenVault,
    TokenCommandHandler,
    EndUserActivity,
    RequestRate,
    AuthenticateTokenQuery,

    PoliciesInAgents,
    PolicyCommandHandler,
    DefaultsStreams,
    DefaultsCommandHandler,

    AgentsOfEndUser,
    ComputersOfEndUser,
    EndUserViews,
    EndUserListQuery,
  ],
})
export class EndUsersModule {}
