import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BenchError } from '../bench-error.js';
import { ROOT, STANDALONE_MAIN } from '../paths.js';
import { ApiClient } from './api-client.js';
import { childEnvironment, type Environment } from './child-environment.js';
import { ChildProgram } from './child-program.js';

/** How long an agent stays warm: long enough to wake it warm, short enough to wait until it is cold. */
const WARM_SECONDS = 2;
const COLD_WITHIN_MS = 20_000;

export interface AgentState {
  readonly id: string;
  readonly state: string;
  readonly sleepDepth: 'warm' | 'cold' | null;
}

/** How to start a Berth: the program directly, or the command that a user types. */
export type Launch = 'program' | 'npm start';

export interface BerthOptions {
  readonly launch?: Launch;
  /** Variables in addition to those of every Berth of the bench. */
  readonly settings?: Environment;
}

/** A whole Berth with its embedded parts, as a separate process. */
export class BerthProgram {
  readonly #agents: string[] = [];
  readonly #clients: ApiClient[] = [];

  private constructor(
    readonly program: ChildProgram,
    readonly api: ApiClient,
  ) {}

  static async start(
    dataDir: string,
    env: Environment,
    { launch = 'program', settings = {} }: BerthOptions = {},
  ): Promise<BerthProgram> {
    const { program, ready } = await ChildProgram.start({
      name: launch === 'program' ? 'Berth' : '"npm start"',
      ...commandOf(launch),
      cwd: ROOT,
      env: childEnvironment(env, {
        PORT: '0',
        BERTH_DATA: dataDir,
        BERTH_WARM_SLEEP_SECONDS: String(WARM_SECONDS),
        BERTH_MESSAGES_PER_MINUTE: '1000000',
        BERTH_END_USER_REQUESTS_PER_MINUTE: '1000000',
        BERTH_PARENT_WATCH: '1',
        ...settings,
      }),
      ready: /Berth is ready at (http:\/\/\S+)/,
      withinMs: 90_000,
    });
    const key = readFileSync(join(dataDir, 'bootstrap-key'), 'utf8').trim();
    return new BerthProgram(program, new ApiClient(ready[1] ?? '', key));
  }

  /** `more`: members of the agent. */
  createEcho(name: string, more: object = {}): Promise<string> {
    return this.createAgent(name, 'echo', more);
  }

  /** Creates an agent that runs and stays awake. */
  async createAgent(name: string, templateId: 'echo' | 'blank', more: object = {}): Promise<string> {
    const body = { name, templateId, idleTtlSeconds: 0, ...more };
    const { id } = await this.api.json<AgentState>('POST', '/api/agents', body);
    this.#agents.push(id);
    const agent = await this.api.json<AgentState>('GET', `/api/agents/${id}?wait=running&timeout=60`);
    if (agent.state !== 'running') throw new BenchError(`The agent does not run: ${JSON.stringify(agent)}`);
    return id;
  }

  /** Its API with another credential. */
  as(credential: string): ApiClient {
    const client = new ApiClient(this.api.url, credential);
    this.#clients.push(client);
    return client;
  }

  /** Removes every agent it created, so that the next part does not measure them too. */
  async removeAgents(): Promise<void> {
    for (const id of this.#agents.splice(0)) await this.api.call('DELETE', `/api/agents/${id}`);
  }

  chat(agentId: string, message = 'hello'): Promise<unknown> {
    return this.api.call('POST', `/api/agents/${agentId}/chat`, { message });
  }

  async sleep(agentId: string): Promise<AgentState> {
    return this.api.json<AgentState>('POST', `/api/agents/${agentId}/sleep`);
  }

  /** Puts an agent to sleep and waits until its processes are gone. */
  async sleepCold(agentId: string): Promise<void> {
    await this.sleep(agentId);
    await this.untilCold(agentId);
  }

  /** Waits until the processes of an agent that sleeps are gone; `warmSeconds` is how long it sleeps warm. */
  async untilCold(agentId: string, warmSeconds = WARM_SECONDS): Promise<void> {
    const withinMs = warmSeconds * 1_000 + COLD_WITHIN_MS;
    for (const end = performance.now() + withinMs; performance.now() < end; await sleep(100)) {
      const agent = await this.api.json<AgentState>('GET', `/api/agents/${agentId}`);
      if (agent.sleepDepth === 'cold') return;
    }
    throw new BenchError(`The agent was not cold ${withinMs / 1000} s after it fell asleep.`);
  }

  async stop(): Promise<void> {
    for (const client of [this.api, ...this.#clients]) await client.close();
    await this.program.stop();
  }
}

const commandOf = (launch: Launch): { command: string; args: readonly string[] } =>
  launch === 'program'
    ? { command: process.execPath, args: [...process.execArgv, '--enable-source-maps', STANDALONE_MAIN] }
    : { command: 'npm', args: ['start', '--silent'] };
