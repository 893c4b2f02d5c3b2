import { PlatformModule, ProjectionModule } from '@berth/service';
import { Module } from '@nestjs/common';
import { auditListProjection } from './audit-list/audit-list.projection.js';
import { AuditListQuery } from './audit-list/audit-list.query.js';
import { SealedActs } from './audit-list/sealed-acts.js';
import { AuditNatsController } from './audit.nats-controller.js';
import { RefusalCommandHandler } from './refusal/refusal.command-handler.js';
import { RefusalStreams } from './refusal/refusal.streams.js';

/** No caller waits for the projection, and every command is an event of it, so a short delay makes larger batches. */
const GATHER_MS = 200;

@Module({
  imports: [
    PlatformModule.forService({ name: 'audit', tables: { migrations: [] } }),
    ProjectionModule.forFeature(auditListProjection, { gatherMs: GATHER_MS }),
  ],
  controllers: [AuditNatsController],
  providers: [RefusalStreams, RefusalCommandHandler, AuditListQuery, SealedActs],
})
export class AuditModule {}
