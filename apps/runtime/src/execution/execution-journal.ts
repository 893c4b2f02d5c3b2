import { constants } from 'node:fs';
import { open, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { boxOwner, type ExecutionOutcome } from '@berth/contracts/runtime';
import { decodeExecution, executionFileName, EXECUTIONS_FOLDER, GUEST_LIMITS } from '@berth/guest-protocol';
import { isId } from '@berth/kernel';
import { Inject, Injectable } from '@nestjs/common';
import { agentFolders } from '../agent/agent-folders.js';
import { RuntimeConfig } from '../config.js';
import { readExecution } from '../guest/execution-responses.js';
import { toOutcome } from './execution-outcome.js';

/** Reads the execution journals of guests that are not running. */
@Injectable()
export class ExecutionJournal {
  private readonly dataDir: string;

  constructor(@Inject(RuntimeConfig) { dataDir }: Pick<RuntimeConfig, 'dataDir'>) {
    this.dataDir = dataDir;
  }

  /**
   * The outcome of an execution whose guest is not running; one that was still running has failed with the guest.
   * undefined: never started.
   */
  async read(agentId: string, executionId: string): Promise<ExecutionOutcome | undefined> {
    if (boxOwner(agentId) === undefined || !isId('exe', executionId)) return undefined;
    const { journal } = agentFolders(this.dataDir, agentId);
    const file = join(journal, EXECUTIONS_FOLDER, executionFileName(executionId));
    await using opened = await openRecord(file);
    return opened && (await readRecord(opened.handle, executionId));
  }
}

/** Follows no symlink and opens no FIFO: without root, the agent's own processes can write here. */
const openRecord = async (
  file: string,
): Promise<({ readonly handle: FileHandle } & AsyncDisposable) | undefined> => {
  try {
    const handle = await open(file, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    return { handle, [Symbol.asyncDispose]: () => handle.close() };
  } catch (error) {
    if (error instanceof Error && 'code' in error && NOT_THERE.has(String(error.code))) return undefined;
    throw error;
  }
};

const NOT_THERE: ReadonlySet<string> = new Set(['ENOENT', 'ENOTDIR', 'ELOOP', 'ENXIO']);

const readRecord = async (handle: FileHandle, executionId: string): Promise<ExecutionOutcome | undefined> => {
  const stat = await handle.stat();
  if (!stat.isFile()) return undefined;
  const writtenAt = stat.mtime.toISOString();
  const record = decodeExecution(await readBounded(handle));
  const ran = record?.status === 'running' ? { ...record, status: 'failed', endedAt: writtenAt } : record;
  try {
    return toOutcome(readExecution(ran, executionId));
  } catch {
    // The file exists, so the execution was started; its outcome is lost.
    return {
      status: 'failed',
      exitCode: -1,
      stdout: '',
      stderr: '',
      startedAt: writtenAt,
      endedAt: writtenAt,
    };
  }
};

const readBounded = async (handle: FileHandle): Promise<string> => {
  const bytes = Buffer.allocUnsafe(GUEST_LIMITS.responseBytes);
  let length = 0;
  while (length < bytes.length) {
    const { bytesRead } = await handle.read(bytes, length, bytes.length - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.toString('utf8', 0, length);
};
