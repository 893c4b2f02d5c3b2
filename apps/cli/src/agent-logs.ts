import type { LogEntry, LogsPage, LogSource } from '@berth/contracts/runtime';
import type { ApiClient } from './api-client.js';
import { printable } from './output/table.js';
import type { Terminal } from './terminal.js';

/** Reads the logs of an agent, page by page. */
export class AgentLogs {
  #cursor: string | null = null;

  constructor(
    private readonly api: ApiClient,
    private readonly agentId: string,
    private readonly source: LogSource | null,
  ) {}

  /** Returns the newest entries at first, and then those written since. */
  async read(limit: number): Promise<readonly LogEntry[]> {
    const query = new URLSearchParams({ limit: String(limit) });
    if (this.source !== null) query.set('source', this.source);
    if (this.#cursor !== null) query.set('cursor', this.#cursor);
    const path = `/api/agents/${this.agentId}/logs?${query.toString()}`;
    const { logs, nextCursor } = await this.api.call<LogsPage>({ method: 'GET', path });
    this.#cursor = nextCursor ?? this.#cursor;
    return logs;
  }
}

/** Prints one line for each entry; a build's without time, level and source. */
export const printEntries = (entries: readonly LogEntry[], { out }: Terminal): void => {
  for (const { timestamp, level, source, message } of entries) {
    const prefix = source === 'build' ? '' : `${timestamp} ${level} ${source} `;
    out.write(`${prefix}${printable(message)}\n`);
  }
};
