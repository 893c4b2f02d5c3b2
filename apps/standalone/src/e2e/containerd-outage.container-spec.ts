import { once } from 'node:events';
import { renameSync, symlinkSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Env } from '@berth/config';
import { containerTestHost } from '@berth/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf, type ApiResponse } from './api.fixture.js';
import { prepareContainerStack, stopContainerStack } from './container-stack.fixture.js';
import { Executions } from './executions.fixture.js';
import { Files } from './files.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

const REFUSED_WITHIN_MS = 5_000;
const WORKS_WITHIN_MS = 30_000;

const folder = temporaryFolder();
const address = join(folder.path, 'containerd.sock');
const api = new Api(() => stack);
const connections = new Set<Socket>();
let env: Env;
let stack: StandaloneStack;
let silent: Server;

/** Points the address that the installation uses at another socket. */
const pointTo = (socket: string): void => {
  symlinkSync(socket, `${address}.next`);
  renameSync(`${address}.next`, address);
};

const restore = (): void => {
  pointTo(containerTestHost().address);
  for (const connection of connections) connection.destroy();
};

beforeAll(async () => {
  pointTo(containerTestHost().address);
  env = { ...(await prepareContainerStack(folder.path)), CONTAINERD_ADDRESS: address };
  // Accepts connections but never responds, like a process that is stopped with SIGSTOP.
  silent = createServer((socket) => connections.add(socket.on('error', () => undefined)));
  silent.listen(join(folder.path, 'hung.sock'));
  await once(silent, 'listening');
  stack = await startStandaloneStack(folder.path, env);
});

afterEach(restore);

afterAll(async () => {
  await stopContainerStack(stack, env);
  silent.close();
  folder.remove();
});

const timed = async (call: Promise<ApiResponse>): Promise<ApiResponse & { readonly ms: number }> => {
  const since = performance.now();
  return { ...(await call), ms: performance.now() - since };
};

const expectRefusal = (response: ApiResponse & { readonly ms: number }): void => {
  expect([response.status, codeOf(response)]).toEqual([503, 'service_unavailable']);
  expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0);
  expect(response.ms).toBeLessThan(REFUSED_WITHIN_MS);
};

const coldAgent = async (): Promise<string> => {
  const { id } = await api.runningAgent({ templateId: 'blank' });
  await api.post(`/api/agents/${id}/stop`);
  await api.post(`/api/agents/${id}/sleep`);
  await api.inState(id, 'sleeping');
  return id;
};

const stateOf = async (id: string): Promise<unknown> => (await api.get(`/api/agents/${id}`)).body['state'];

describe.each(['hung', 'dead'])('while containerd is %s', (state) => {
  const outage = (): void => pointTo(join(folder.path, `${state}.sock`));

  it('running agents serve calls, sleep and wake', async () => {
    const { id } = await api.runningAgent();
    const exec = new Executions(api, id);
    outage();
    expect((await exec.run('echo runs on')).body.stdout).toBe('runs on\n');
    expect((await new Files(() => stack, id).write('file', 'x')).status).toBe(200);
    expect((await api.chat(id, 'hello')).status).toBe(200);
    await api.post(`/api/agents/${id}/sleep`);
    await api.inState(id, 'sleeping');
    expect((await api.chat(id, 'hello')).status).toBe(200);
    expect(await stateOf(id)).toBe('running');
  });

  it('a cold wake fails with 503 within 5 s; the agent stays asleep and wakes once containerd is back', async () => {
    const id = await coldAgent();
    outage();
    expectRefusal(await timed(new Files(() => stack, id).list()));
    expect(await stateOf(id)).toBe('sleeping');
    expectRefusal(await timed(api.post(`/api/agents/${id}/start`)));
    expect(await stateOf(id)).toBe('sleeping');
    const refused = await timed(new Executions(api, id).run('true'));
    expect([refused.status, refused.ms < REFUSED_WITHIN_MS]).toEqual([503, true]);
    expect((await api.get(`/api/agents/${id}`)).body['lastError']).toBeNull();
    restore();
    const since = performance.now();
    expect((await new Executions(api, id).run('echo back')).body.stdout).toBe('back\n');
    expect(performance.now() - since).toBeLessThan(WORKS_WITHIN_MS);
  });

  it('a chat with a cold agent fails with 503 within 5 s, and the agent stays asleep', async () => {
    const id = await coldAgent();
    outage();
    const refused = await timed(api.chat(id, 'hello'));
    expect([refused.status, refused.ms < REFUSED_WITHIN_MS]).toEqual([503, true]);
    expect(await stateOf(id)).toBe('sleeping');
  });

  it('a creation fails with 503 within 5 s, leaves nothing behind, and succeeds once containerd is back', async () => {
    const name = `created while ${state}`;
    const create = (): Promise<ApiResponse> => api.post('/api/agents', { name, templateId: 'blank' });
    outage();
    expectRefusal(await timed(create()));
    restore();
    const created = await create();
    expect(created.status).toBe(201);
    await api.inState(String(created.body['id']), 'running', WORKS_WITHIN_MS);
  });

  it('a deployment fails with 503 within 5 s', async () => {
    const { id } = await api.runningAgent({ templateId: 'blank' });
    outage();
    const repoUrl = 'https://github.com/owner/repository';
    expectRefusal(await timed(api.post('/api/deploy', { agentId: id, source: 'git', repoUrl })));
  });

  it('an agent can be stopped and deleted', async () => {
    const [stopped, deleted] = await Promise.all([api.runningAgent(), api.runningAgent()]);
    outage();
    expect((await api.post(`/api/agents/${stopped.id}/stop`)).body['state']).toBe('stopped');
    expect((await api.call('DELETE', `/api/agents/${deleted.id}`)).status).toBe(204);
    restore();
    await api.post(`/api/agents/${stopped.id}/start`);
    await api.inState(stopped.id, 'running', WORKS_WITHIN_MS);
  });
});
