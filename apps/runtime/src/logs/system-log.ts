import { mkdir } from 'node:fs/promises';
import { encodeLogLine, type LogLine } from '@berth/guest-protocol';
import { Inject, Injectable } from '@nestjs/common';
import { agentFolders } from '../agent/agent-folders.js';
import { RuntimeConfig } from '../config.js';
import { appendToLog } from './log-append.js';

/** The most characters of one write, unless one line has more: a file is left with less than that unused. */
const WRITE_CHARS = 512 * 1024;

/** Writes the host's own lines to an agent's log, whether a guest writes to it or not. */
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
    const encoded = lines.map((line) => encodeLogLine({ timestamp, source, ...line }));
    try {
      await mkdir(logs, { recursive: true, mode: 0o700 });
      for (const text of joined(encoded)) await appendToLog(logs, text);
    } catch {
      // A full disk loses log lines but must not stop the agent.
    }
  }
}

/** The lines as few texts of limited length. */
function* joined(lines: readonly string[]): Generator<string> {
  let text = '';
  for (const line of lines) {
    if (text !== '' && text.length + line.length > WRITE_CHARS) {
      yield text;
      text = '';
    }
    text += line;
  }
  if (text !== '') yield text;
}
