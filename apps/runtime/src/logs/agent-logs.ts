import { constants } from 'node:fs';
import { open, readdir, type FileHandle } from 'node:fs/promises';
import { join } from 'node:path';
import { MAX_LOG_WAIT_MS, type LogEntry, type LogsPage, type ReadLogs } from '@berth/contracts/runtime';
import { decodeLogLine, logFileName, logFileNumber } from '@berth/guest-protocol';
import { Inject, Injectable } from '@nestjs/common';
import { agentFolders } from '../agent/agent-folders.js';
import { HostedAgents } from '../agent/hosted-agents.js';
import { RuntimeConfig } from '../config.js';
import { decodeLogCursor, encodeLogCursor, type LogPlace } from './log-cursor.js';
import { logFilter } from './log-filter.js';
import { LogWatches } from './log-watch.js';

const CHUNK_BYTES = 256 * 1024;
/** Size limit of the newest entries: a broker message holds 8 MiB, and no request returns older entries. */
const NEWEST_BYTES = 4 * 1024 * 1024;
/** Size limit of a page after a cursor, because many followers may each hold a page in memory. */
const PART_BYTES = 700 * 1024;
/** Maximum number of bytes that one request scans; the next request continues from there. */
const SCAN_BYTES = 8 * 1024 * 1024;
const NEWLINE = 0x0a;

/** Reads agents' logs from disk: works without waking the agent, and for starts that failed. */
@Injectable()
export class AgentLogs {
  readonly #watches = new LogWatches();
  private readonly dataDir: string;
  #closed = false;

  constructor(
    @Inject(RuntimeConfig) { dataDir }: Pick<RuntimeConfig, 'dataDir'>,
    @Inject(HostedAgents) private readonly agents: Pick<HostedAgents, 'beforeRemoval' | 'isLeaving'>,
  ) {
    this.dataDir = dataDir;
    agents.beforeRemoval((agentId) => this.wake(agentId));
  }

  /** Number of agents whose logs have waiting readers. */
  get watched(): number {
    return this.#watches.size;
  }

  /** Waits for no entries of an agent that is being removed. Errors: invalid `invalid_request` for an invalid cursor. */
  async read(query: ReadLogs): Promise<LogsPage> {
    const { logs } = agentFolders(this.dataDir, query.agentId);
    if (query.cursor === null) return readNewest(logs, query);
    const place = decodeLogCursor(query.cursor);
    const deadline = performance.now() + Math.min(query.waitMs, MAX_LOG_WAIT_MS);
    using watch = this.#watches.enter(logs);
    for (let from = place; ;) {
      const seen = watch.version;
      const { entries, next, atEnd } = await readOnwards(logs, from, query);
      const leftMs = this.#closed || this.agents.isLeaving(query.agentId) ? 0 : deadline - performance.now();
      if (entries.length > 0 || leftMs <= 0) return { logs: entries, nextCursor: encodeLogCursor(next) };
      if (atEnd) await watch.changed(seen, leftMs);
      from = next;
    }
  }

  /** A follower notices by the next look-up of a deleted agent that it is gone, not when its longest wait is over. */
  private wake(agentId: string): Promise<void> {
    this.#watches.wake(agentFolders(this.dataDir, agentId).logs);
    return Promise.resolve();
  }

  /** Ends all waits, now and in future. */
  close(): void {
    this.#closed = true;
    this.#watches.wakeAll();
  }
}

const fileNumbers = async (folder: string): Promise<readonly number[]> =>
  (await readdir(folder).catch(() => []))
    .flatMap((name) => logFileNumber(name) ?? [])
    .toSorted((left, right) => left - right);

/** The newest entries, oldest first. Reads files and their chunks from the end. */
const readNewest = async (folder: string, query: ReadLogs): Promise<LogsPage> => {
  const filter = logFilter(query);
  const found: LogEntry[] = [];
  let bytes = 0;
  let end: LogPlace = { file: 1, offset: 0 };
  const numbers = await fileNumbers(folder);
  reading: for (const number of numbers.toReversed()) {
    await using file = await openFile(folder, number);
    if (file === undefined) continue;
    const size = await wholeLines(file.handle);
    if (number === numbers.at(-1)) end = { file: number, offset: size };
    for await (const line of linesBackwards(file.handle, size)) {
      const entry = decodeLogLine(line);
      if (entry === undefined) continue;
      if (filter.isPast(entry)) break reading;
      if (!filter.wants(entry)) continue;
      bytes += Buffer.byteLength(line);
      if (bytes > NEWEST_BYTES) break reading;
      found.push(entry);
      if (found.length >= query.limit) break reading;
    }
  }
  return { logs: found.toReversed(), nextCursor: encodeLogCursor(end) };
};

/** The oldest entries after a position, and the position after the last line scanned. */
const readOnwards = async (
  folder: string,
  place: LogPlace,
  query: ReadLogs,
): Promise<{ entries: LogEntry[]; next: LogPlace; atEnd: boolean }> => {
  const filter = logFilter(query);
  const entries: LogEntry[] = [];
  let [scanned, returned] = [0, 0];
  let next = place;
  for (const number of (await fileNumbers(folder)).filter((candidate) => candidate >= place.file)) {
    await using file = await openFile(folder, number);
    if (file === undefined) continue;
    if (number > next.file) next = { file: number, offset: 0 };
    for await (const { line, end } of linesOnwards(file.handle, next.offset)) {
      const entry = decodeLogLine(line);
      const wanted = entry !== undefined && filter.wants(entry);
      const bytes = end - next.offset;
      if (wanted && returned > 0 && returned + bytes > PART_BYTES) return { entries, next, atEnd: false };
      if (wanted) {
        entries.push(entry);
        returned += bytes;
      }
      scanned += bytes;
      next = { file: number, offset: end };
      if (entries.length >= query.limit || scanned >= SCAN_BYTES) return { entries, next, atEnd: false };
    }
  }
  return { entries, next, atEnd: true };
};

/** Follows no symlink and opens no FIFO: the guest can write here, and the host may be root. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;

const openFile = async (
  folder: string,
  number: number,
): Promise<({ readonly handle: FileHandle } & AsyncDisposable) | undefined> => {
  // The file may have been deleted by rotation since the folder was listed.
  const handle = await open(join(folder, logFileName(number)), READ).catch(() => undefined);
  return handle && { handle, [Symbol.asyncDispose]: () => handle.close() };
};

/** Length of the complete lines in bytes; the last line may still be in progress. */
const wholeLines = async (file: FileHandle): Promise<number> => {
  const { size } = await file.stat();
  for (let to = size; to > 0; to -= CHUNK_BYTES) {
    const from = Math.max(0, to - CHUNK_BYTES);
    const newline = (await readBytes(file, from, to - from)).lastIndexOf(NEWLINE);
    if (newline >= 0) return from + newline + 1;
  }
  return 0;
};

async function* linesBackwards(file: FileHandle, size: number): AsyncGenerator<string> {
  let rest = Buffer.alloc(0);
  for (let to = size; to > 0; to -= CHUNK_BYTES) {
    const from = Math.max(0, to - CHUNK_BYTES);
    const chunk = Buffer.concat([await readBytes(file, from, to - from), rest]);
    const first = from === 0 ? 0 : chunk.indexOf(NEWLINE) + 1;
    if (from > 0 && first === 0) {
      rest = chunk;
      continue;
    }
    const lines = chunk.subarray(first).toString('utf8').split('\n');
    for (const line of lines.toReversed()) if (line !== '') yield line;
    rest = chunk.subarray(0, first);
  }
}

async function* linesOnwards(
  file: FileHandle,
  offset: number,
): AsyncGenerator<{ line: string; end: number }> {
  let at = offset;
  let rest = Buffer.alloc(0);
  for (;;) {
    const chunk = await readBytes(file, at + rest.length, CHUNK_BYTES);
    if (chunk.length === 0) return;
    const bytes = Buffer.concat([rest, chunk]);
    let from = 0;
    for (let newline = bytes.indexOf(NEWLINE); newline >= 0; newline = bytes.indexOf(NEWLINE, from)) {
      const line = bytes.subarray(from, newline).toString('utf8');
      from = newline + 1;
      yield { line, end: at + from };
    }
    at += from;
    rest = bytes.subarray(from);
  }
}

const readBytes = async (file: FileHandle, position: number, length: number): Promise<Buffer> => {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(length), 0, length, position);
  return buffer.subarray(0, bytesRead);
};
