import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { HostsModule } from '../hosts/hosts.module.js';
import { LogsModule } from '../logs/logs.module.js';
import { ExecController } from './exec.controller.js';
import { OutputController } from './output.controller.js';

@Module({ imports: [AuthModule, HostsModule, LogsModule], controllers: [ExecController, OutputController] })
export class ExecModule {}
