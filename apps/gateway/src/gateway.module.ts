import { PlatformModule } from '@berth/service';
import { Module } from '@nestjs/common';
import { AccountsModule } from './accounts/accounts.module.js';
import { AgentsModule } from './agents/agents.module.js';
import { AuditModule } from './audit/audit.module.js';
import { ChatModule } from './chat/chat.module.js';
import { ComputersModule } from './computers/computers.module.js';
import { GatewayConfig, readGatewayConfig } from './config.js';
import { ConsoleModule } from './console/console.module.js';
import { DeploymentsModule } from './deployments/deployments.module.js';
import { DocsModule } from './docs/docs.module.js';
import { EndUsersModule } from './end-users/end-users.module.js';
import { EnvModule } from './env/env.module.js';
import { ExecModule } from './exec/exec.module.js';
import { FeedbackModule } from './feedback/feedback.module.js';
import { FilesModule } from './files/files.module.js';
import { HealthModule } from './health/health.module.js';
import { HttpModule } from './http/http.module.js';
import { migrations, VAULT_SCHEMA } from './idempotency/migrations.js';
import { KeysModule } from './keys/keys.module.js';
import { LlmModule } from './llm/llm.module.js';
import { LogsModule } from './logs/logs.module.js';
import { OpenApiModule } from './openapi/openapi.module.js';
import { OperationsModule } from './operations/operations.module.js';
import { SchedulesModule } from './schedules/schedules.module.js';
import { TemplatesModule } from './templates/templates.module.js';
import { UsageModule } from './usage/usage.module.js';
import { WebhooksModule } from './webhooks/webhooks.module.js';

/** The public HTTP API: what every request passes, and a module for each group of routes. */
@Module({
  imports: [
    PlatformModule.forService({
      name: 'gateway',
      config: GatewayConfig,
      readConfig: readGatewayConfig,
      eventLog: false,
      tables: { schema: VAULT_SCHEMA, migrations },
    }),
    HttpModule,
    HealthModule,
    OpenApiModule,
    DocsModule,
    TemplatesModule,
    AccountsModule,
    KeysModule,
    AuditModule,
    AgentsModule,
    DeploymentsModule,
    LogsModule,
    EnvModule,
    EndUsersModule,
    ChatModule,
    SchedulesModule,
    FilesModule,
    ExecModule,
    ConsoleModule,
    ComputersModule,
    WebhooksModule,
    FeedbackModule,
    UsageModule,
    LlmModule,
    OperationsModule,
  ],
})
export class GatewayModule {}
