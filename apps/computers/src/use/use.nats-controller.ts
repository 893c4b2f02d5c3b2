import {
  computersRequests,
  type ComputerExec,
  type OpenActions,
  type OpenComputerDownload,
  type OpenComputerList,
  type OpenComputerStage,
  type OpenScreenshot,
  type PutComputerFile,
  type ReportActions,
} from '@berth/contracts/computers';
import type { ExecutionView } from '@berth/contracts/exec';
import type { OpenedStage, OpenedTransfer, PutFile } from '@berth/contracts/files';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { ComputerTransfers } from './computer-transfers.js';
import { RunCommandHandler } from './run-command.js';
import { WriteFileHandler } from './write-file.js';

/** Actions, screenshots, commands and files. */
@Controller()
export class UseNatsController {
  constructor(
    private readonly transfers: ComputerTransfers,
    private readonly commands: RunCommandHandler,
    private readonly files: WriteFileHandler,
  ) {}

  @HandleRequest(computersRequests.openActions)
  openActions(request: OpenActions): Promise<OpenedTransfer> {
    return this.transfers.actions(request);
  }

  @HandleRequest(computersRequests.reportActions)
  async reportActions(request: ReportActions): Promise<Record<string, never>> {
    await this.transfers.reportActions(request);
    return {};
  }

  @HandleRequest(computersRequests.openScreenshot)
  openScreenshot(request: OpenScreenshot): Promise<OpenedTransfer> {
    return this.transfers.screenshot(request);
  }

  @HandleRequest(computersRequests.exec)
  exec(request: ComputerExec): Promise<ExecutionView> {
    return this.commands.run(request);
  }

  @HandleRequest(computersRequests.openList)
  openList(request: OpenComputerList): Promise<OpenedTransfer> {
    return this.transfers.list(request);
  }

  @HandleRequest(computersRequests.openDownload)
  openDownload(request: OpenComputerDownload): Promise<OpenedTransfer> {
    return this.transfers.download(request);
  }

  @HandleRequest(computersRequests.openStage)
  openStage(request: OpenComputerStage): Promise<OpenedStage> {
    return this.transfers.stage(request);
  }

  @HandleRequest(computersRequests.put)
  put(request: PutComputerFile): Promise<PutFile> {
    return this.files.put(request);
  }
}
