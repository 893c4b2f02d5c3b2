import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import {
  decodeDelivery,
  DELIVERIES_FILE,
  toDeliveryReport,
  type DeliveryRecord,
  type DeliveryReport,
} from '@berth/guest-protocol';
import { isId } from '@berth/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { agentFolders } from '../agent/agent-folders.js';
import { RuntimeConfig } from '../config.js';
import { readDelivery } from '../guest/delivery-responses.js';

/** More than the longest response of a program, escaped as JSON. */
const LONGEST_LINE_BYTES = 16 * 1024 * 1024;
/** More than the maximum size of a guest's journal. */
const MAX_BYTES = 256 * 1024 * 1024;
const NEWLINE = 0x0a;

/** Reads the delivery journals of guests that are not running. */
@Injectable()
export class DeliveryJournal {
  private readonly dataDir: string;

  constructor(@Inject(RuntimeConfig) { dataDir }: Pick<RuntimeConfig, 'dataDir'>) {
    this.dataDir = dataDir;
  }

  async read(agentId: string, deliveryId: string): Promise<DeliveryReport> {
    if (!isId('agt', agentId) || !isId('dlv', deliveryId)) return { state: 'absent' };
    const { journal } = agentFolders(this.dataDir, agentId);
    const handle = await openJournal(join(journal, DELIVERIES_FILE));
    if (handle === undefined) return { state: 'absent' };
    try {
      return await findIn(handle, deliveryId);
    } finally {
      await handle.close();
    }
  }
}

/** Follows no symlink and opens no FIFO: without root, the agent's own processes can write here. */
const openJournal = async (file: string): Promise<FileHandle | undefined> => {
  try {
    return await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (error instanceof Error && 'code' in error && NOT_THERE.has(String(error.code))) return undefined;
    throw error;
  }
};

const NOT_THERE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO']);

const findIn = async (handle: FileHandle, deliveryId: string): Promise<DeliveryReport> => {
  if (!(await handle.stat()).isFile()) return { state: 'absent' };
  let last: DeliveryRecord | undefined;
  for await (const line of linesWith(handle, deliveryId)) {
    const record = decodeDelivery(line);
    if (record?.id === deliveryId) last = record.step === 'released' ? undefined : record;
  }
  return readDelivery(toDeliveryReport(last));
};

/** The lines that contain `text`, one at a time; skips lines longer than any that a guest writes. */
async function* linesWith(handle: FileHandle, text: string): AsyncGenerator<string> {
  const bytes = handle.createReadStream({ autoClose: false, end: MAX_BYTES });
  let begun: Buffer[] = [];
  let begunBytes = 0;
  for await (const chunk of bytes as AsyncIterable<Buffer>) {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      const piece = chunk.subarray(from, end === -1 ? undefined : end);
      begunBytes += piece.length;
      if (begunBytes <= LONGEST_LINE_BYTES) begun.push(piece);
      if (end === -1) break;
      const line = Buffer.concat(begun);
      if (begunBytes <= LONGEST_LINE_BYTES && line.includes(text)) yield line.toString('utf8');
      begun = [];
      begunBytes = 0;
      from = end + 1;
    }
  }
}
