import { accountsRequests } from '@berth/contracts/accounts';
import { Clock } from '@berth/kernel';
import { Requester } from '@berth/messaging';
import { EndUserKeys } from '@berth/personal-data';
import { OperatorSettings } from '@berth/operator-file';
import { PlatformModule, ProjectionModule, ServiceContext } from '@berth/service';
import { Module } from '@nestjs/common';
import { BillingNatsController } from './billing.nats-controller.js';
import { BillingConfig, readBillingConfig } from './config.js';
import { COMPUTER_USAGE, computerUsageProjection, USAGE, usageProjection } from './meter/usage.projection.js';
import { PlanRecorder } from './pricing/plan-recorder.js';
import { PricingStreams } from './pricing/pricing.streams.js';
import { UsageVerifier } from './recount/usage-verifier.js';
import { ComputerUsageQuery } from './usage-list/computer-usage.query.js';
import { ComputersCountedUntil, CountedUntil } from './usage-list/counted-until.js';
import { UsageQuery } from './usage-list/usage.query.js';

/** No request waits for a single event, so a short delay is acceptable for larger batches. */
const GATHER_MS = 200;

@Module({
  imports: [
    PlatformModule.forService({
      name: 'billing',
      config: BillingConfig,
      readConfig: readBillingConfig,
      tables: { migrations: [] },
    }),
    ProjectionModule.forFeatureAsync(USAGE, {
      inject: [Requester, Clock],
      useFactory: (requester: Requester, clock: Clock) => usageProjection(new EndUserKeys(requester, clock)),
      gatherMs: GATHER_MS,
    }),
    ProjectionModule.forFeatureAsync(COMPUTER_USAGE, {
      inject: [Requester, Clock],
      useFactory: (requester: Requester, clock: Clock) =>
        computerUsageProjection(new EndUserKeys(requester, clock)),
      gatherMs: GATHER_MS,
    }),
  ],
  controllers: [BillingNatsController],
  providers: [
    CountedUntil,
    UsageQuery,
    ComputersCountedUntil,
    ComputerUsageQuery,
    UsageVerifier,
    PricingStreams,
    PlanRecorder,
    {
      provide: OperatorSettings,
      inject: [BillingConfig, ServiceContext, Requester],
      useFactory: ({ operator }: BillingConfig, { resources, log }: ServiceContext, requester: Requester) => {
        const findPlansInUse = async () => (await requester.request(accountsRequests.plansInUse, {})).planIds;
        resources.defer(operator.rereadOnHangUp(log, findPlansInUse));
        return operator;
      },
    },
  ],
})
export class BillingModule {}
