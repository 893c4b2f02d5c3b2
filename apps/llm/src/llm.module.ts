import { accountsRequests } from '@berth/contracts/accounts';
import { Requester } from '@berth/messaging';
import { OperatorSettings } from '@berth/operator-file';
import { PlatformModule, ProjectionModule, ServiceContext } from '@berth/service';
import { Module } from '@nestjs/common';
import { AccountLedgerStreams } from './account-ledger/account-ledger.streams.js';
import { callListProjection } from './call-list/call-list.projection.js';
import { CallListQuery } from './call-list/call-list.query.js';
import { CallLedgers } from './calls/call-ledgers.js';
import { Instance } from './calls/instance.js';
import { createInstances, Instances } from './calls/instances.js';
import { OpenCalls } from './calls/open-calls.js';
import { SettleLostCalls } from './calls/settle-lost-calls.js';
import { LlmConfig, readLlmConfig } from './config.js';
import { CountedCredits } from './credits/counted-credits.js';
import { CreditsCommandHandler } from './credits/credits.command-handler.js';
import { EndUserLedgerStreams } from './end-user-ledger/end-user-ledger.streams.js';
import { LlmNatsController } from './llm.nats-controller.js';
import { ModelCatalogue } from './models/model-catalogue.js';
import { OperatorModels } from './models/operator-models.js';
import { CallerLookup } from './route/caller-lookup.js';
import { CallExchange } from './route/call-exchange.js';
import { CallTiming } from './route/call-timing.js';
import { LlmPort } from './route/llm-port.js';
import { LlmRoute } from './route/llm-route.js';
import { MeteredCalls } from './route/metered-calls.js';
import { UpstreamClient } from './upstream/upstream-client.js';

@Module({
  imports: [
    PlatformModule.forService({
      name: 'llm',
      config: LlmConfig,
      readConfig: readLlmConfig,
      tables: { migrations: [createInstances] },
    }),
    ProjectionModule.forFeature(callListProjection),
  ],
  controllers: [LlmNatsController],
  providers: [
    AccountLedgerStreams,
    EndUserLedgerStreams,
    CallLedgers,
    Instance,
    Instances,
    OpenCalls,
    SettleLostCalls,
    CallListQuery,
    CountedCredits,
    CreditsCommandHandler,
    {
      provide: OperatorSettings,
      inject: [LlmConfig, ServiceContext, Requester],
      useFactory: ({ operator }: LlmConfig, { resources, log }: ServiceContext, requester: Requester) => {
        const findPlansInUse = async () => (await requester.request(accountsRequests.plansInUse, {})).planIds;
        resources.defer(operator.rereadOnHangUp(log, findPlansInUse));
        return operator;
      },
    },
    { provide: ModelCatalogue, useClass: OperatorModels },
    CallTiming,
    UpstreamClient,
    MeteredCalls,
    CallerLookup,
    CallExchange,
    LlmRoute,
    LlmPort,
  ],
})
export class LlmModule {}
