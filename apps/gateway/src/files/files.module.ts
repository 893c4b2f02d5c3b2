import { Module } from '@nestjs/common';
import { AuthModule } from '../auth/auth.module.js';
import { HostsModule } from '../hosts/hosts.module.js';
import { IdempotencyModule } from '../idempotency/idempotency.module.js';
import { AgentTransfers } from './agent-transfer.js';
import { FileResponses } from './file-responses.js';
import { FilesController } from './files.controller.js';
import { StagedFiles } from './staged-files.js';
import { UploadController } from './upload.controller.js';
import { WriteController } from './write.controller.js';

@Module({
  imports: [AuthModule, HostsModule, IdempotencyModule],
  controllers: [FilesController, UploadController, WriteController],
  providers: [AgentTransfers, StagedFiles, FileResponses],
  exports: [AgentTransfers, StagedFiles, FileResponses],
})
export class FilesModule {}
