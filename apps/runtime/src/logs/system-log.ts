import { appendFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeLogLine, logFileName, newestLogFile, type LogLine } from '@berth/guest-protocol';
import { Inject, Injectable } from '@nestjs/common';
import { agentFolders } from '../agent/agent-folders.js';
import { RuntimeConfig } from '../config.js';

/** Writes the host's own lines to an agent's log. Only the guest rotates the files: the host writes few lines. */
@Injectable()
export class SystemLog {
  private readonly dataDir: string;

  constructor(@Inject(RuntimeConfig) { dataDir }: Pick<RuntimeConfig, 'dataDir'>) {
    this.dataDir = dataDir;
  }

  async add(agentId: string, level: LogLine['level'], message: string): Promise<void> {
    const { logs } = agentFolders(this.dataDir, agentId);
    const line = encodeLogLine({ timestamp: new Date().toISOString(), level, source: 'system', message });
    try {
      await mkdir(logs, { recursive: true, mode: 0o700 });
      const file = join(logs, logFileName(newestLogFile(await readdir(logs))));
      await appendFile(file, line, { mode: 0o600 });
    } catch {
      // A full disk loses log lines but must not stop the agent.
    }
  }
}
