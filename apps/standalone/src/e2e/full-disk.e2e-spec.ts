import { join } from 'node:path';
import { SmallDisk } from '@berth/embedded/testing';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api, type ApiResponse } from './api.fixture.js';
import { Executions } from './executions.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

const DISK_MB = 800;
/** Time from there being space to the service accepting changes again. */
const BACK = { timeoutMs: 30_000, intervalMs: 250 };

describe('an installation whose parts and agents share one disk', () => {
  const folder = temporaryFolder();
  const dataDir = join(folder.path, 'data');
  let disk: SmallDisk;
  let stack: StandaloneStack;
  const api = new Api(() => stack);
  const acknowledged: string[] = [];

  beforeAll(async () => {
    disk = SmallDisk.mount(join(folder.path, 'disk.ext4'), dataDir, DISK_MB);
    stack = await startStandaloneStack(dataDir);
  });
  afterAll(async () => {
    await stack.stop();
    disk.unmount();
    folder.remove();
  });

  const change = async (): Promise<ApiResponse> => {
    const id = crypto.randomUUID();
    const response = await api.call('PUT', `/api/v1/end-users/${id}`, { body: {} });
    if (response.status === 201) acknowledged.push(id);
    return response;
  };
  const accepted = async (): Promise<void> => expect((await change()).status).toBe(201);
  const diskInHealth = async (): Promise<unknown> => (await api.get('/health')).body['disk'];

  it('goes on when an agent fills it: the agent is ended, and the others are served', async () => {
    const { id } = await api.runningAgent({ templateId: 'blank' });
    const exec = new Executions(api, id);
    const filling = await exec.begin('i=0; while :; do dd if=/dev/zero of=big$i bs=1M; i=$((i+1)); done');
    await eventually(
      async () => expect((await api.get(`${exec.path}/${filling}`)).body['status']).toBe('failed'),
      BACK,
    );
    await eventually(accepted, BACK);
    const { body } = await api.get<{ logs: { message: string }[] }>(`/api/agents/${id}/logs`);
    expect(body.logs.map(({ message }) => message)).toContainEqual(
      expect.stringContaining('went on writing while the disk of its host was nearly full'),
    );
    expect(await diskInHealth()).not.toBe('ok');
    expect((await api.call('DELETE', `/api/agents/${id}`)).status).toBe(204);
    await eventually(async () => expect(await diskInHealth()).toBe('ok'), BACK);
  });

  it('goes on reading while it is full, refuses changes with the reason, and accepts them once there is space', async () => {
    await eventually(accepted, BACK);
    await eventually(async () => {
      disk.fill();
      expect(await diskInHealth()).toBe('full');
      const { status, headers, body } = await change();
      expect({ status, retryAfter: headers.get('retry-after') }).toEqual({ status: 503, retryAfter: '5' });
      expect(body['detail']).toMatchObject({ code: 'service_unavailable', reason: 'storage_full' });
    }, BACK);
    expect((await api.get('/api/v1/end-users')).status).toBe(200);
    expect((await api.get('/health')).body).toMatchObject({ status: 'degraded' });

    disk.free();
    await eventually(accepted, BACK);
    await eventually(async () => expect((await api.get('/health')).body['status']).toBe('ok'), BACK);
    for (const id of acknowledged) expect((await api.get(`/api/v1/end-users/${id}`)).status).toBe(200);
  });
});
