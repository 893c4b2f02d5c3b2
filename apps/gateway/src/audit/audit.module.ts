import { Module } from '@nestjs/common';
import { AuditController } from './audit.controller.js';
import { EndUsersOfAudit } from './end-users-of-audit.js';

@Module({ controllers: [AuditController], providers: [EndUsersOfAudit] })
export class AuditModule {}
