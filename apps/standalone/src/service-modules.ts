// Generated from the services' code by `npm run pages`; the checks fail when it is out of date.
import { AccountsModule } from '@berth/accounts';
import { AgentsModule } from '@berth/agents';
import { AuditModule } from '@berth/audit';
import { BillingModule } from '@berth/billing';
import { ComputersModule } from '@berth/computers';
import { DeliveryModule } from '@berth/delivery';
import { EndUsersModule } from '@berth/end-users';
import { ExecModule } from '@berth/exec';
import { FilesModule } from '@berth/files';
import { LlmModule } from '@berth/llm';
import { SchedulesModule } from '@berth/schedules';
import type { ServiceModule } from '@berth/service';

/** Every service that `/health` queries. */
export const SERVICE_MODULES: readonly ServiceModule[] = [
  AccountsModule,
  AgentsModule,
  AuditModule,
  BillingModule,
  ComputersModule,
  DeliveryModule,
  EndUsersModule,
  ExecModule,
  FilesModule,
  LlmModule,
  SchedulesModule,
];
