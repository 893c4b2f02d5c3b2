import type {
  OpenActions,
  OpenComputerDownload,
  OpenComputerList,
  OpenComputerStage,
  OpenScreenshot,
  ReportActions,
} from '@berth/contracts/computers';
import { FILE_LIMIT_BYTES, pathProblem } from '@berth/contracts/files';
import type { OpenedStage, OpenedTransfer } from '@berth/contracts/hosting';
import { Clock, deriveId, isoTime, stepOf } from '@berth/kernel';
import { Injectable } from '@nestjs/common';
import { ComputersFromLog } from '../computer-list/computers-from-log.js';
import type { UseOfComputer } from '../computer/ensure-awake.js';
import { AwakeComputers } from './awake-computers.js';
import { ComputerUseStreams } from './computer-use.streams.js';
import { ScreenshotCounter } from './screenshot-counter.js';

/** Opens the transfers between the gateway and the host of a computer. */
@Injectable()
export class ComputerTransfers {
  constructor(
    private readonly computers: AwakeComputers,
    private readonly fromLog: ComputersFromLog,
    private readonly uses: ComputerUseStreams,
    private readonly screenshots: ScreenshotCounter,
    private readonly clock: Clock,
  ) {}

  /** The batch is recorded before its ticket is returned, so that none is carried out unrecorded. */
  async actions({ actions, ...request }: OpenActions): Promise<OpenedTransfer> {
    const { computerId, commandId: batchId } = request;
    const opened = await this.computers.open(request, { kind: 'actions' });
    const data = { computerId, batchId, actions, at: this.now() };
    await this.uses.handle(computerId, { type: 'ActionsOpened', data }, request);
    return opened;
  }

  /** The command's id is that of `actions`. */
  async reportActions({ results, images, ...request }: ReportActions): Promise<void> {
    const { computerId, commandId: batchId } = request;
    const data = { computerId, batchId, results, images, at: this.now() };
    await this.uses.handle(computerId, { type: 'ActionsDone', data }, stepOf(request, 'done'));
  }

  async screenshot({ format, quality, scale, ...request }: OpenScreenshot): Promise<OpenedTransfer> {
    const opened = await this.computers.open(request, { kind: 'screenshot', format, quality, scale });
    this.screenshots.add(request);
    return opened;
  }

  async list({ path, ...request }: OpenComputerList): Promise<OpenedTransfer> {
    await this.requireValid(request, path ?? '');
    return this.computers.open(request, { kind: 'list', path });
  }

  async download({ path, ...request }: OpenComputerDownload): Promise<OpenedTransfer> {
    await this.requireValid(request, path);
    const transfer = { kind: 'download', path, within: 'volume', limitBytes: FILE_LIMIT_BYTES } as const;
    return this.computers.open(request, transfer);
  }

  async stage({ path, ...request }: OpenComputerStage): Promise<OpenedStage> {
    await this.requireValid(request, path);
    const stagedId = deriveId('stg', request.commandId);
    const transfer = { kind: 'stage', stagedId, limitBytes: FILE_LIMIT_BYTES } as const;
    const opened = await this.computers.open(request, transfer);
    return { ...opened, staged: { stagedId, host: opened.host, epoch: opened.epoch } };
  }

  /** Throws for an invalid path without waking the computer; that there is none comes first. */
  private async requireValid({ accountId, computerId }: UseOfComputer, path: string): Promise<void> {
    const problem = pathProblem(path);
    if (problem === undefined) return;
    await this.fromLog.load(accountId, computerId);
    throw problem;
  }

  private now(): string {
    return isoTime(this.clock.now());
  }
}
