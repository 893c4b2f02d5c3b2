import { Module } from '@nestjs/common';
import { FilesModule } from '../files/files.module.js';
import { HostsModule } from '../hosts/hosts.module.js';
import { ActionBatches } from './action-batches.js';
import { ComputerActionsController } from './computer-actions.controller.js';
import { ComputerExecController } from './computer-exec.controller.js';
import { ComputerFilesController } from './computer-files.controller.js';
import { ComputerScreenshotController } from './computer-screenshot.controller.js';
import { ComputerSessionsController } from './computer-sessions.controller.js';
import { ComputerUsageController } from './computer-usage.controller.js';
import { ComputerViewerController } from './computer-viewer.controller.js';
import { ComputersController } from './computers.controller.js';
import { ViewerModule } from './viewer/viewer.module.js';

@Module({
  imports: [FilesModule, HostsModule, ViewerModule],
  controllers: [
    ComputersController,
    ComputerUsageController,
    ComputerActionsController,
    ComputerScreenshotController,
    ComputerExecController,
    ComputerFilesController,
    ComputerSessionsController,
    ComputerViewerController,
  ],
  providers: [ActionBatches],
})
export class ComputersModule {}
