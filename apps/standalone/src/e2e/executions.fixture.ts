import { eventually } from '@berth/testing';
import type { ApiResponse, Api, CallOptions } from './api.fixture.js';

/** An execution as returned by the API. */
export interface Execution extends Record<string, unknown> {
  readonly executionId: string;
  readonly status: string;
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
  readonly detail?: unknown;
}

/** A command that prints the state of a live process; a zombie does not count as one. */
export const aliveIn = (pid: string): string => `grep -s '^State:[[:space:]]*[RSDTtI]' /proc/${pid}/status`;

/** Commands in one agent, over HTTP. */
export class Executions {
  constructor(
    private readonly api: Api,
    readonly agentId: string,
  ) {}

  get path(): string {
    return `/api/agents/${this.agentId}/exec`;
  }

  run(
    command: string | readonly string[],
    more: Record<string, unknown> = {},
    options: CallOptions = {},
  ): Promise<ApiResponse<Execution>> {
    return this.api.post<Execution>(this.path, { command, ...more }, options);
  }

  /** Submits detached and returns the id. */
  async begin(command: string, more: Record<string, unknown> = {}): Promise<string> {
    const { status, body } = await this.run(command, { detached: true, ...more });
    if (status !== 202) throw new Error(`The submission returned ${String(status)}: ${JSON.stringify(body)}`);
    return body.executionId;
  }

  get(executionId: string, options: CallOptions = {}): Promise<ApiResponse<Execution>> {
    return this.api.get<Execution>(`${this.path}/${executionId}`, options);
  }

  cancel(executionId: string): Promise<ApiResponse<Execution>> {
    return this.api.call<Execution>('DELETE', `${this.path}/${executionId}`);
  }

  /** Polls the API until it has ended. */
  ended(executionId: string, timeoutMs = 20_000): Promise<Execution> {
    return eventually(
      async () => {
        const { status, body } = await this.get(executionId);
        if (status !== 200 || body.status === 'running') throw new Error(`It is ${JSON.stringify(body)}.`);
        return body;
      },
      { timeoutMs, intervalMs: 100 },
    );
  }

  /** Waits until a file in the volume has content, and returns it. */
  wrote(file: string): Promise<string> {
    return eventually(
      async () => {
        const { body } = await this.run(`cat ${file}`);
        if (body.stdout === '') throw new Error(`${file} is empty.`);
        return body.stdout.trim();
      },
      { timeoutMs: 10_000, intervalMs: 100 },
    );
  }
}
