import { constants } from 'node:fs';
import { appendFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeLogLine, logFileName, newestLogFile, type LogLine } from '@berth/guest-protocol';
import { Inject, Injectable } from '@nestjs/common';
import { agentFolders } from '../agent/agent-folders.js';
import { RuntimeConfig } from '../config.js';

/** Follows no symlink and opens no FIFO: the guest can write here, and the host may be root. */
const APPEND =
  constants.O_WRONLY | constants.O_APPEND | constants.O_CREAT | constants.O_NOFOLLOW | constants.O_NONBLOCK;

/**
 * Writes the host's own lines to an agent's log. The guest rotates the files; while there is none, a full file is left
 * before the next build.
 */
@Injectable()
export class SystemLog {
  private readonly dataDir: string;

  constructor(@Inject(RuntimeConfig) { dataDir }: Pick<RuntimeConfig, 'dataDir'>) {
    this.dataDir = dataDir;
  }

  async add(agentId: string, level: LogLine['level'], message: string): Promise<void> {
    await this.#append(agentId, 'system', [{ level, message }]);
  }

  /** Adds lines of a build. */
  async addBuild(agentId: string, lines: readonly Pick<LogLine, 'level' | 'message'>[]): Promise<void> {
    await this.#append(agentId, 'build', lines);
  }

  async #append(
    agentId: string,
    source: LogLine['source'],
    lines: readonly Pick<LogLine, 'level' | 'message'>[],
  ): Promise<void> {
    const { logs } = agentFolders(this.dataDir, agentId);
    const timestamp = new Date().toISOString();
    const text = lines.map((line) => encodeLogLine({ timestamp, source, ...line })).join('');
    try {
      await mkdir(logs, { recursive: true, mode: 0o700 });
      const file = join(logs, logFileName(newestLogFile(await readdir(logs))));
      await appendFile(file, text, { mode: 0o600, flag: APPEND });
    } catch {
      // A full disk loses log lines but must not stop the agent.
    }
  }
}
