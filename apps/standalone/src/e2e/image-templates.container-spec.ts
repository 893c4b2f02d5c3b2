import { copyFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '@berth/config';
import { ImageRegistry } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { prepareContainerStack, stopContainerStack } from './container-stack.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

const folder = temporaryFolder();
const data = join(folder.path, 'data');
const templates = join(folder.path, 'templates');
const api = new Api(() => stack);
let env: Env;
let registry: ImageRegistry;
let stack: StandaloneStack;

/** Adds a template without a program. */
const addTemplate = (id: string, options: Record<string, unknown>): void => {
  mkdirSync(join(templates, id), { recursive: true });
  const resources = { memMb: 256, vcpus: 1, diskGb: 1 };
  const template = { id, name: id, description: 'For tests.', resources, capabilities: ['exec'], env: [] };
  writeFileSync(
    join(templates, id, 'template.json'),
    JSON.stringify({ ...template, program: null, ...options }),
  );
};

beforeAll(async () => {
  registry = await ImageRegistry.start();
  mkdirSync(data);
  const root = join(folder.path, 'root');
  mkdirSync(join(root, 'bin'), { recursive: true });
  copyFileSync('/usr/bin/busybox', join(root, 'bin', 'sh'));
  for (const name of ['shell', 'hanging']) await registry.push(name, '1', root, {});
  registry.fail('hanging', 'hangs');
  addTemplate('shell', { image: `${registry.host}/shell:1` });
  addTemplate('hanging', { image: `${registry.host}/hanging:1` });
  addTemplate('absent', { image: `${registry.host}/absent:1` });
  addTemplate('sandboxed', { runtimeClass: 'runsc' });
  env = { ...(await prepareContainerStack(data)), BERTH_TEMPLATES_DIR: templates };
  stack = await startStandaloneStack(data, env);
});

afterAll(async () => {
  await stopContainerStack(stack, env);
  await registry.stop();
  folder.remove();
});

const create = async (templateId: string): Promise<string> => {
  const body = { name: `agent ${crypto.randomUUID().slice(0, 8)}`, templateId };
  return String((await api.post('/api/agents', body)).body['id']);
};

const sh = async (agentId: string, command: string): Promise<unknown> =>
  (await api.post(`/api/agents/${agentId}/exec`, { command })).body['stdout'];

describe('a template that names an image', () => {
  it('runs its agents in that image, which is pulled once', async () => {
    const agents = await Promise.all([create('shell'), create('shell')]);
    for (const id of agents) {
      await api.inState(id, 'running');
      expect(await sh(id, 'for f in /bin/*; do echo $f; done')).toBe('/bin/sh\n');
    }
    const layers = registry.requests.filter((path) => path.startsWith('/v2/shell/blobs/'));
    expect(layers.length).toBe(new Set(layers).size);
  });

  it('that cannot be had makes its agents fail with image_unavailable', async () => {
    const failed = await api.inState(await create('absent'), 'failed');
    expect(failed).toMatchObject({ lastError: { code: 'image_unavailable' } });
    expect(JSON.stringify(failed)).not.toMatch(/nerdctl|\/data/);
  });

  it('of a registry that hangs holds up no other agent, and its agents can be deleted meanwhile', async () => {
    const waiting = await create('hanging');
    const other = await create('shell');
    await api.inState(other, 'running', 20_000);
    expect((await api.get(`/api/agents/${waiting}`)).body).toMatchObject({ state: 'deploying' });
    expect((await api.call('DELETE', `/api/agents/${waiting}`)).status).toBe(204);
    expect((await api.get(`/api/agents/${waiting}`)).status).toBe(404);
  });
});

describe('a template that names a runtime class', () => {
  it('that the host lacks makes its agents fail with runtime_class_unavailable', async () => {
    const failed = await api.inState(await create('sandboxed'), 'failed');
    expect(failed).toMatchObject({ lastError: { code: 'runtime_class_unavailable' } });
  });
});
