import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '@berth/config';
import { eventually, GitServer } from '@berth/testing';
import { Api, type ApiResponse } from './api.fixture.js';
import { processesOf } from './processes.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

export interface Deployment {
  readonly id: string;
  readonly status: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly commit: string | null;
  readonly source: Record<string, unknown>;
}

/** How an installation with one of the drivers is set up and ended. */
export interface DeployInstallation {
  /** Prepares the data folder, which exists, and returns the settings. */
  prepare(dataDir: string): Promise<Env>;
  stop(stack: StandaloneStack, env: Env): Promise<void>;
}

/** An installation with one of the drivers, and a git server from which tests deploy to it. */
export class DeployTarget {
  readonly api = new Api(() => this.stack);
  readonly #folder = temporaryFolder();
  readonly dataDir = join(this.#folder.path, 'data');
  #env: Env = {};
  #git: GitServer | undefined;
  #stack: StandaloneStack | undefined;

  constructor(private readonly installation: DeployInstallation) {}

  get git(): GitServer {
    return present(this.#git);
  }

  get stack(): StandaloneStack {
    return present(this.#stack);
  }

  async start(): Promise<void> {
    // Builds run as users of their own, and look for the gate in it.
    chmodSync(this.#folder.path, 0o755);
    this.#git = await GitServer.start();
    const { host } = this.git;
    const config = `deploy:\n  gitHosts: [github.com, { host: "${host}", insecure: true }]\n`;
    writeFileSync(join(this.#folder.path, 'operator.yaml'), config);
    mkdirSync(this.dataDir, { mode: 0o700 });
    this.#env = await this.installation.prepare(this.dataDir);
    await this.restart();
  }

  /** Starts it, also after its program ended. */
  async restart(): Promise<void> {
    this.#stack = await startStandaloneStack(this.dataDir, {
      ...this.#env,
      BERTH_CONFIG: join(this.#folder.path, 'operator.yaml'),
      GIT_SSL_CAINFO: this.git.caFile,
    });
  }

  async stop(): Promise<void> {
    await this.installation.stop(this.stack, this.#env);
    await this.git.stop();
    this.#folder.remove();
  }

  /** Deploys the repository of that name. */
  deploy(
    agentId: string,
    name: string,
    more: Record<string, unknown> = {},
  ): Promise<ApiResponse<{ deploymentId: string }>> {
    const body = { agentId, source: 'git', repoUrl: this.git.urlOf(name), ...more };
    return this.api.post<{ deploymentId: string }>('/api/deploy', body);
  }

  /** Deploys the repository of that name to a new agent, and waits for the end of the deployment. */
  async deployed(name: string): Promise<{ readonly agentId: string; readonly deployment: Deployment }> {
    const { id: agentId } = await this.api.runningAgent();
    const accepted = await this.deploy(agentId, name);
    return { agentId, deployment: await this.ended(agentId, accepted.body.deploymentId) };
  }

  async inStatus(agentId: string, deploymentId: string, status: string): Promise<void> {
    await eventually(
      async () => {
        const { body } = await this.api.get(`/api/agents/${agentId}/deployments/${deploymentId}`);
        return body['status'] === status;
      },
      { timeoutMs: 20_000 },
    );
  }

  ended(agentId: string, deploymentId: string, timeoutMs = 60_000): Promise<Deployment> {
    return eventually(
      async () => {
        const { body } = await this.api.get<Deployment & Record<string, unknown>>(
          `/api/agents/${agentId}/deployments/${deploymentId}`,
        );
        if (body.status !== 'succeeded' && body.status !== 'failed')
          throw new Error(`The deployment is ${JSON.stringify(body)}.`);
        return body;
      },
      { timeoutMs },
    );
  }

  async buildLog(agentId: string): Promise<readonly string[]> {
    const path = `/api/agents/${agentId}/logs?source=build&limit=1000`;
    const { body } = await this.api.get<{ logs: readonly { readonly message: string }[] }>(path);
    return body.logs.map(({ message }) => message);
  }

  /** The processes of the installation whose command line ends like that. */
  running(command: string): ReturnType<typeof processesOf> {
    return processesOf(this.dataDir).filter((one) => one.command.endsWith(command));
  }

  /** Puts a file into the folder of the build that waits for it, wherever the driver has that folder. */
  async openGate(): Promise<void> {
    const waiting = () =>
      processesOf(this.dataDir).find(({ command }) => command.startsWith('/bin/sh -c until test -e gate'));
    await eventually(() => waiting() !== undefined, { timeoutMs: 20_000 });
    writeFileSync(`/proc/${String(waiting()?.pid)}/cwd/gate`, '');
  }
}

const present = <T>(part: T | undefined): T => {
  if (part === undefined) throw new Error('The installation has not started.');
  return part;
};

/** A program that responds to a chat with these words, and the value of a variable. */
export const program = (words: string): string => `
import { createServer } from 'node:http';
createServer((request, response) => {
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ response: ${JSON.stringify(words)} + ' ' + (process.env.COLOUR ?? '') }));
}).listen(process.env.PORT, '127.0.0.1');
`;

export const repository = (words: string, more: Record<string, string> = {}): Record<string, string> => ({
  'berth.json': JSON.stringify({
    build: 'echo building in $PWD && echo built > built.txt',
    start: 'exec node main.mjs',
    env: { COLOUR: 'blue', PORT: '1', BERTH_AGENT_ID: 'mine' },
  }),
  'main.mjs': program(words),
  ...more,
});

/** Builds until the test opens its gate. */
export const slowly = (words: string) => ({
  ...repository(words),
  'berth.json': JSON.stringify({
    build: 'until test -e gate; do sleep 0.1; done',
    start: 'exec node main.mjs',
    env: { COLOUR: 'blue' },
  }),
});
