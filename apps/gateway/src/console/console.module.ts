import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { HostsModule } from '../hosts/hosts.module.js';
import { ConsoleController } from './console.controller.js';

@Module({ imports: [AuthModule, HostsModule], controllers: [ConsoleController] })
export class ConsoleModule {}
