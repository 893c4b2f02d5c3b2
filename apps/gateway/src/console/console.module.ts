import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { ConsoleController } from './console.controller.js';

@Module({ imports: [AuthModule], controllers: [ConsoleController] })
export class ConsoleModule {}
