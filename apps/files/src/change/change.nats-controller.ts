import {
  filesRequests,
  type ChangePath,
  type DiscardStaged,
  type MovePath,
  type PutAttachment,
  type PutStaged,
} from '@berth/contracts/files';
import type { PutFile } from '@berth/contracts/hosting';
import { HandleRequest } from '@berth/messaging';
import { Controller } from '@nestjs/common';
import { ChangeCommandHandler } from './change.command-handler.js';

@Controller()
export class ChangeNatsController {
  constructor(private readonly changes: ChangeCommandHandler) {}

  @HandleRequest(filesRequests.put)
  put(request: PutStaged): Promise<PutFile> {
    return this.changes.put(request);
  }

  @HandleRequest(filesRequests.putAttachment)
  putAttachment(request: PutAttachment): Promise<PutFile> {
    return this.changes.putAttachment(request);
  }

  @HandleRequest(filesRequests.discard)
  discard(request: DiscardStaged): Promise<Record<string, never>> {
    return this.changes.discard(request);
  }

  @HandleRequest(filesRequests.mkdir)
  mkdir(request: ChangePath): Promise<{ readonly path: string }> {
    return this.changes.mkdir(request);
  }

  @HandleRequest(filesRequests.move)
  move(request: MovePath): Promise<{ readonly from: string; readonly to: string }> {
    return this.changes.move(request);
  }

  @HandleRequest(filesRequests.delete)
  delete(request: ChangePath): Promise<{ readonly path: string }> {
    return this.changes.delete(request);
  }
}
