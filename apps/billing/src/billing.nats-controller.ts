import {
  billingRequests,
  type ComputerUsageReport,
  type DailyUsageRow,
  type GetComputerUsage,
  type GetUsage,
  type UsageReport,
  type UsageVerification,
  type VerifyUsage,
} from '@berth/contracts/billing';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { UsageVerifier } from './recount/usage-verifier.js';
import { ComputerUsageQuery } from './usage-list/computer-usage.query.js';
import { UsageQuery } from './usage-list/usage.query.js';

@Controller()
export class BillingNatsController {
  constructor(
    private readonly query: UsageQuery,
    private readonly computers: ComputerUsageQuery,
    private readonly verifier: UsageVerifier,
  ) {}

  @HandleRequest(billingRequests.usage)
  usage(@Payload() request: GetUsage): Promise<UsageReport> {
    return this.query.byAgent(request);
  }

  @HandleRequest(billingRequests.dailyUsage)
  dailyUsage(@Payload() request: GetUsage): Promise<UsageReport<DailyUsageRow>> {
    return this.query.byDay(request);
  }

  @HandleRequest(billingRequests.computerUsage)
  computerUsage(@Payload() request: GetComputerUsage): Promise<ComputerUsageReport> {
    return this.computers.byComputer(request);
  }

  @HandleRequest(billingRequests.verify)
  verify(@Payload() request: VerifyUsage): Promise<UsageVerification> {
    return this.verifier.run(request);
  }
}
