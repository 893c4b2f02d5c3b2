import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '@berth/config';
import { eventually, ImageRegistry, type ImageProgram } from '@berth/testing';
import { expect } from 'vitest';
import { Api, type ApiResponse } from './api.fixture.js';
import { prepareContainerStack, stopContainerStack } from './container-stack.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

interface Deployment {
  readonly status: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly source: { readonly kind: string; readonly image?: string };
}

/** Serves the root folder over HTTP. */
export const serve = (more = ''): readonly string[] => [
  '/busybox',
  'sh',
  '-c',
  `${more}exec /busybox httpd -f -p $PORT -h /`,
];

/** An installation with containers and a registry of images, from which images may be deployed. */
export class ImageInstallation {
  readonly #folder = temporaryFolder();
  readonly #data = join(this.#folder.path, 'data');
  #env: Env = {};
  #registry: ImageRegistry | undefined;
  #stack: StandaloneStack | undefined;
  readonly api = new Api(() => this.stack);

  /** `operatorFile`: more lines of it. */
  async start(settings: Env = {}, operatorFile = ''): Promise<void> {
    mkdirSync(this.#data);
    this.#registry = await ImageRegistry.start();
    const config = join(this.#folder.path, 'operator.yaml');
    writeFileSync(config, `deploy: { registries: ["${this.registry.host}", docker.io] }\n${operatorFile}`);
    this.#env = { ...(await prepareContainerStack(this.#data)), BERTH_CONFIG: config, ...settings };
    this.#stack = await startStandaloneStack(this.#data, this.#env);
  }

  async stop(): Promise<void> {
    await stopContainerStack(this.stack, this.#env);
    await this.registry.stop();
    this.#folder.remove();
  }

  /** A folder for files of the tests, which is deleted at the end. */
  get folder(): string {
    return this.#folder.path;
  }

  get registry(): ImageRegistry {
    if (this.#registry === undefined) throw new Error('The installation was not started.');
    return this.#registry;
  }

  get stack(): StandaloneStack {
    if (this.#stack === undefined) throw new Error('The installation was not started.');
    return this.#stack;
  }

  /** A folder with one static program and nothing else, and perhaps a few files. */
  rootOf(name: string, files: Record<string, string> = {}, tools: readonly string[] = []): string {
    const root = join(this.folder, name);
    mkdirSync(join(root, 'bin'), { recursive: true });
    copyFileSync('/usr/bin/busybox', join(root, 'busybox'));
    for (const tool of tools) symlinkSync('/busybox', join(root, 'bin', tool));
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(join(root, path, '..'), { recursive: true });
      writeFileSync(join(root, path), content);
    }
    return root;
  }

  deploy(agentId: string, image: string): Promise<ApiResponse<{ deploymentId: string }>> {
    return this.api.post('/api/deploy', { agentId, source: 'image', image });
  }

  /** Deploys an image of the registry and waits for the end of the deployment. */
  async deployed(agentId: string, name: string): Promise<Deployment> {
    const { status, body } = await this.deploy(agentId, `${this.registry.host}/${name}`);
    expect([status, body]).toMatchObject([202, { deploymentId: expect.any(String) as string }]);
    return this.#ended(agentId, body.deploymentId);
  }

  /** An agent that runs that image. */
  async agentOf(name: string, root: string, program: ImageProgram): Promise<string> {
    await this.registry.push(name, '1', root, program);
    const { id } = await this.api.runningAgent();
    expect(await this.deployed(id, `${name}:1`)).toMatchObject({ status: 'succeeded', error: null });
    return id;
  }

  async sh(agentId: string, command: string): Promise<string> {
    const { body } = await this.api.post(`/api/agents/${agentId}/exec`, { command });
    return `${String(body['stdout'])}${String(body['stderr'])}`.trim();
  }

  #ended(agentId: string, deploymentId: string): Promise<Deployment> {
    const path = `/api/agents/${agentId}/deployments/${deploymentId}`;
    return eventually(
      async () => {
        const { body } = await this.api.get<Deployment & Record<string, unknown>>(path);
        if (body.status !== 'succeeded' && body.status !== 'failed')
          throw new Error(`The deployment is ${JSON.stringify(body)}.`);
        return body;
      },
      { timeoutMs: 60_000 },
    );
  }
}
