import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { FollowedStreams } from './followed-streams.js';
import { LogsController } from './logs.controller.js';
import { SharedReads } from './shared-reads.js';

@Module({
  imports: [AuthModule],
  controllers: [LogsController],
  providers: [FollowedStreams, SharedReads],
  exports: [FollowedStreams],
})
export class LogsModule {}
