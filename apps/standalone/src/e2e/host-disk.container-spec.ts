import { join } from 'node:path';
import type { Env } from '@berth/config';
import { SmallDisk } from '@berth/embedded/testing';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { prepareContainerStack, stopContainerStack } from './container-stack.fixture.js';
import { Executions } from './executions.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

/** Room for the kit of the runtime, and for an agent, which may use 1 GB. */
const DISK_MB = 1_600;
/** Of 4 KB each: what the runtime gives up when the disk is full. */
const RESERVED_BLOCKS = 16_384;
const WORKS = { timeoutMs: 60_000, intervalMs: 500 };
const COLD_SLEEP: Env = { BERTH_WARM_SLEEP_SECONDS: '0' };

let stack: StandaloneStack;
let disk: SmallDisk;
const api = new Api(() => stack);

const refused = (code: string): object => ({ status: 503, body: { detail: { code } } });

const agentWith = async (content: string): Promise<string> => {
  const { id } = await api.runningAgent({ templateId: 'blank' });
  expect((await new Executions(api, id).run(`echo ${content} > kept; sync`)).body.exitCode).toBe(0);
  return id;
};

const keptBy = async (id: string): Promise<unknown> =>
  (await new Executions(api, id).run('cat kept')).body.stdout;

const lastErrorOf = async (id: string): Promise<unknown> =>
  (await api.get(`/api/agents/${id}`)).body['lastError'];

afterEach(() => disk.free());

describe('while the disk of a host with containers is full', () => {
  const folder = temporaryFolder();
  let env: Env;

  beforeAll(async () => {
    disk = SmallDisk.mount(join(folder.path, 'host.ext4'), join(folder.path, 'runtime'), DISK_MB);
    env = { ...(await prepareContainerStack(folder.path)), ...COLD_SLEEP };
    stack = await startStandaloneStack(folder.path, env);
  });

  afterAll(async () => {
    await stopContainerStack(stack, env);
    disk.unmount();
    folder.remove();
  });

  it('a new agent is refused, others keep their state, and afterwards everything works and nothing is lost', async () => {
    const running = await agentWith('one');
    const stopped = await agentWith('two');
    const asleep = await agentWith('three');
    await api.post(`/api/agents/${stopped}/stop`);
    await api.post(`/api/agents/${asleep}/sleep`);
    disk.fill();
    expect(disk.freeBlocks).toBeLessThan(RESERVED_BLOCKS);

    const exec = new Executions(api, running);
    const failed = await exec.run('timeout 20 dd if=/dev/zero of=lost bs=1M count=200 conv=fsync');
    expect(failed.status < 300 ? failed.body.exitCode : failed.status).not.toBe(0);
    const creation = { name: 'on a full disk', templateId: 'blank' };
    expect(await api.post('/api/agents', creation)).toMatchObject(refused('no_capacity'));
    expect(await api.post(`/api/agents/${stopped}/start`)).toMatchObject(refused('service_unavailable'));
    expect((await api.get(`/api/agents/${stopped}`)).body).toMatchObject({ state: 'stopped' });
    expect(await new Executions(api, asleep).run('true')).toMatchObject(refused('guest_command_unavailable'));
    expect((await api.get(`/api/agents/${asleep}`)).body).toMatchObject({ state: 'sleeping' });

    disk.free();
    expect((await api.post(`/api/agents/${stopped}/start`)).status).toBe(200);
    expect(await keptBy(stopped)).toBe('two\n');
    expect(await keptBy(asleep)).toBe('three\n');
    await eventually(async () => {
      await api.post(`/api/agents/${running}/restart`);
      const { body } = await exec.run('rm -f lost; cat kept; echo more > more && echo wrote');
      expect(body.stdout).toBe('one\nwrote\n');
    }, WORKS);
    const { status, body } = await api.post('/api/agents', creation);
    expect(status).toBe(201);
    await api.inState(String(body['id']), 'running');
  });
});

describe('while the disk of a host is full that does not limit the disks of its agents', () => {
  const folder = temporaryFolder();

  beforeAll(async () => {
    disk = SmallDisk.mount(join(folder.path, 'host.ext4'), join(folder.path, 'runtime'), DISK_MB);
    stack = await startStandaloneStack(folder.path, COLD_SLEEP);
  });

  afterAll(async () => {
    await stack.stop();
    disk.unmount();
    folder.remove();
  });

  it('a new agent fails at once, shows why, and can be started when there is space', async () => {
    disk.fill();
    const created = await api.post('/api/agents', { name: 'on a full disk', templateId: 'blank' });
    const id = String(created.body['id']);
    await api.inState(id, 'failed', 10_000);
    const why = { code: 'no_capacity', message: "The disk of the agent's host is full." };
    expect(await lastErrorOf(id)).toMatchObject(why);
    expect(await api.post(`/api/agents/${id}/start`)).toMatchObject(refused('service_unavailable'));
    expect(await lastErrorOf(id)).toMatchObject(why);
    disk.free();
    expect((await api.post(`/api/agents/${id}/start`)).status).toBe(200);
    expect((await new Executions(api, id).run('echo works')).body.stdout).toBe('works\n');
  });
});
