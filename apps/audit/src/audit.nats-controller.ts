import { auditRequests, type AuditView, type ListAudit, type RecordRefusal } from '@berth/contracts/audit';
import type { Page } from '@berth/kernel';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { Payload } from '@nestjs/microservices';
import { AuditListQuery } from './audit-list/audit-list.query.js';
import { RefusalCommandHandler } from './refusal/refusal.command-handler.js';

@Controller()
export class AuditNatsController {
  constructor(
    private readonly query: AuditListQuery,
    private readonly refusals: RefusalCommandHandler,
  ) {}

  @HandleRequest(auditRequests.list)
  list(@Payload() request: ListAudit): Promise<Page<AuditView>> {
    return this.query.run(request);
  }

  @HandleRequest(auditRequests.recordRefusal)
  async recordRefusal(@Payload() command: RecordRefusal): Promise<Record<string, never>> {
    await this.refusals.record(command);
    return {};
  }
}
