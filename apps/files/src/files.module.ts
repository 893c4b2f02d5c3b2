import { AgentClient } from '@berth/agent-client';
import { EndUserKeys } from '@berth/personal-data';
import { PlatformModule } from '@berth/service';
import { Module } from '@nestjs/common';
import { AttachmentNotifier } from './change/attachment-notifier.js';
import { ChangeCommandHandler } from './change/change.command-handler.js';
import { ChangeNatsController } from './change/change.nats-controller.js';
import { FileChangeStreams } from './change/file-change.streams.js';
import { FileChanges } from './change/file-changes.js';
import { PersonalPaths } from './change/personal-paths.js';
import { BackgroundRetries } from './change/background-retries.js';
import { FilesConfig, readFilesConfig } from './config.js';
import { TransferNatsController } from './transfer/transfer.nats-controller.js';
import { TransferOpener } from './transfer/transfer-opener.js';

@Module({
  imports: [PlatformModule.forService({ name: 'files', config: FilesConfig, readConfig: readFilesConfig })],
  controllers: [TransferNatsController, ChangeNatsController],
  providers: [
    AgentClient,
    FileChangeStreams,
    BackgroundRetries,
    EndUserKeys,
    PersonalPaths,
    FileChanges,
    AttachmentNotifier,
    ChangeCommandHandler,
    TransferOpener,
  ],
})
export class FilesModule {}
