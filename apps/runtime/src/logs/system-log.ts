import { appendFile, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { encodeLogLine, logFileName, newestLogFile, type LogLine } from '@berth/guest-protocol';
import { agentFolders } from '../agent/agent-folders.js';

/** What the host itself has to say in an agent's log. The guest rotates the files; these few lines never do. */
export class SystemLog {
  constructor(private readonly dataDir: string) {}

  async add(agentId: string, level: LogLine['level'], message: string): Promise<void> {
    const { logs } = agentFolders(this.dataDir, agentId);
    const line = encodeLogLine({ timestamp: new Date().toISOString(), level, source: 'system', message });
    try {
      await mkdir(logs, { recursive: true, mode: 0o700 });
      const file = join(logs, logFileName(newestLogFile(await readdir(logs))));
      await appendFile(file, line, { mode: 0o600 });
    } catch {
      // A full disk costs a line of the log, never the agent.
    }
  }
}
