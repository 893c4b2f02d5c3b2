import { BenchError } from '../bench-error.js';
import { ApiClient } from '../programs/api-client.js';

export interface Execution {
  readonly executionId: string;
  readonly status: string;
  readonly exitCode?: number;
  readonly stdout?: string;
}

/** Runs commands in one agent, through the public API; any outcome but success ends the bench. */
export class AgentShell {
  readonly #client: ApiClient;

  constructor(
    { url, key }: Pick<ApiClient, 'url' | 'key'>,
    private readonly agentId: string,
    connections = 1,
  ) {
    this.#client = new ApiClient(url, key, connections);
  }

  async run(command: string): Promise<Execution> {
    const execution = await this.#submit({ command });
    if (execution.status !== 'completed' || execution.exitCode !== 0)
      throw new BenchError(`"${command}" ended ${JSON.stringify(execution).slice(0, 500)}`);
    return execution;
  }

  /** Resolves once the command is accepted; it may still run. */
  detach(command: string): Promise<Execution> {
    return this.#submit({ command, detached: true });
  }

  close(): Promise<void> {
    return this.#client.close();
  }

  #submit(body: object): Promise<Execution> {
    return this.#client.json<Execution>('POST', `/api/agents/${this.agentId}/exec`, body);
  }
}
