import { filesRequests, type OpenDownload, type OpenList, type OpenTransfer } from '@berth/contracts/files';
import type { OpenedStage, OpenedTransfer } from '@berth/contracts/hosting';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { TransferOpener } from './transfer-opener.js';

@Controller()
export class TransferNatsController {
  constructor(private readonly transfers: TransferOpener) {}

  @HandleRequest(filesRequests.openList)
  openList(request: OpenList): Promise<OpenedTransfer> {
    return this.transfers.list(request);
  }

  @HandleRequest(filesRequests.openDownload)
  openDownload(request: OpenDownload): Promise<OpenedTransfer> {
    return this.transfers.download(request);
  }

  @HandleRequest(filesRequests.openStage)
  openStage(request: OpenTransfer): Promise<OpenedStage> {
    return this.transfers.stage(request);
  }
}
