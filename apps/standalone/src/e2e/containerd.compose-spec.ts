import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { ComposeStack } from './compose.fixture.js';
import { Executions } from './executions.fixture.js';
import { Files } from './files.fixture.js';
import { MachineContainerd } from './machine-containerd.fixture.js';
import { AgentSchedules, fromNow } from './schedules.fixture.js';

const FILES = 'docker-compose.yml:infra/compose/containerd.yml:templates.yml';
const DATA = '/var/lib/berth/runtime';
const EVENTUALLY = { timeoutMs: 60_000, intervalMs: 200 };
const TEMPLATES = '/var/lib/berth/own-templates';
/** The containerd namespace of an installation follows from its data folder. */
const NAMESPACE = `berth-${createHash('sha256').update(DATA).digest('hex').slice(0, 12)}`;

let stack: ComposeStack;
let containerd: MachineContainerd;
const api = new Api(() => stack);

const containers = (...options: readonly string[]): string =>
  containerd.nerdctl(`--namespace=${NAMESPACE}`, 'ps', ...options, '--format={{.Names}}');
const mounts = (): string => readFileSync('/proc/self/mounts', 'utf8');

/** Whether the agent costs the machine more than its disk. */
const isUp = (id: string): boolean => containers().includes(id) || mounts().includes(id);

/** Whatever the machine has of an agent. */
const tracesOf = (id: string): readonly string[] => {
  const files = execFileSync('find', ['/var/lib/berth', '-xdev', '-name', `*${id}*`], { encoding: 'utf8' });
  return [containers('--all'), mounts(), files].flatMap((text) =>
    text.split('\n').filter((line) => line.includes(id)),
  );
};

/** A template whose agents are root inside and may write everywhere. */
const writeTemplates = (folder: string): void => {
  const resources = { memMb: 256, vcpus: 1, diskGb: 1 };
  const what = { name: 'Writable', description: 'For tests.', resources, capabilities: ['exec'], env: [] };
  mkdirSync(join(folder, 'writable'), { recursive: true });
  writeFileSync(
    join(folder, 'writable', 'template.json'),
    JSON.stringify({ id: 'writable', ...what, program: null, root: true, writableRoot: true }),
  );
};

beforeAll(async () => {
  const folder = process.env['BERTH_TEST_FOLDER'];
  if (folder === undefined) throw new Error('Run these tests with `npm run test:compose`.');
  containerd = await MachineContainerd.start(mkdtempSync(join(folder, 'machine-')));
  containerd.load(NAMESPACE, 'debian');
  stack = await ComposeStack.prepare('containerd', { COMPOSE_FILE: FILES });
  writeTemplates(TEMPLATES);
  const environment = { BERTH_TEMPLATES_DIR: TEMPLATES };
  const agents = { environment, volumes: [`${TEMPLATES}:${TEMPLATES}:ro`] };
  writeFileSync(
    join(stack.clone, 'templates.yml'),
    JSON.stringify({ services: { agents, runtime: { environment } } }),
  );
  await stack.compose('up', '--detach', '--build', '--wait');
  await stack.healthy(60_000);
  await stack.readKey();
});

afterAll(async () => {
  await stack.stop();
  await containerd.stop();
});

describe('infra/compose/containerd.yml', () => {
  it("runs agents in containers of the machine's containerd, with all calls to them", async () => {
    expect((await api.get('/health')).body).toMatchObject({ status: 'ok', runtime: 'nerdctl' });
    const { id } = await api.runningAgent();
    expect((await api.chat(id, 'hello')).body.response).toContain('hello');
    const exec = new Executions(api, id);
    const { body } = await exec.run('cat /proc/self/uid_map; echo kept > kept');
    expect(body).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/ 200000 /) as string });
    expect(containers()).toContain(id);
    // Over the data port of the host.
    expect((await new Files(() => stack, id).download('kept')).bytes.toString()).toBe('kept\n');
    // Over the API for agents.
    const published = await new AgentSchedules(api, id).publish({ id: 'tea', nextRunAt: fromNow(3_600_000) });
    expect(published).toMatchObject({ status: 200 });
    await api.post(`/api/agents/${id}/sleep`);
    await eventually(() => expect(isUp(id)).toBe(false), EVENTUALLY);
    expect((await exec.run('cat kept')).body.stdout).toBe('kept\n');
    await api.post(`/api/agents/${id}/stop`);
    expect(isUp(id)).toBe(false);
    await api.post(`/api/agents/${id}/start`);
    await api.inState(id, 'running');
    expect((await exec.run('cat kept')).body.stdout).toBe('kept\n');
    expect(tracesOf(id)).not.toEqual([]);
    expect((await api.call('DELETE', `/api/agents/${id}`)).status).toBe(204);
    await eventually(() => expect(tracesOf(id)).toEqual([]), EVENTUALLY);
  });

  it('limits what agents write to their root file system to their disk', async () => {
    const { id } = await api.runningAgent({ templateId: 'writable' });
    const { body } = await new Executions(api, id).run(
      'id -u; touch /written; df --output=size -B1G / | tail -1',
    );
    expect(body).toMatchObject({ exitCode: 0, stdout: expect.stringMatching(/^0\n\s*1\n$/) as string });
    expect((await api.call('DELETE', `/api/agents/${id}`)).status).toBe(204);
  });

  it('lets agents run on while the container of the runtime is started again', async () => {
    const { id } = await api.runningAgent();
    const exec = new Executions(api, id);
    await exec.run('echo same > /tmp/in-memory');
    await stack.crash('runtime');
    await eventually(
      async () => expect((await exec.run('cat /tmp/in-memory')).body.stdout).toBe('same\n'),
      EVENTUALLY,
    );
    expect((await api.call('DELETE', `/api/agents/${id}`)).status).toBe(204);
  });

  it('puts agents to sleep when it is stopped, and finds their volumes again', async () => {
    const { id } = await api.runningAgent();
    const exec = new Executions(api, id);
    await exec.run('echo kept > kept');
    await stack.compose('stop', 'runtime');
    expect(isUp(id)).toBe(false);
    await stack.compose('start', 'runtime');
    await eventually(async () => expect((await exec.run('cat kept')).body.stdout).toBe('kept\n'), EVENTUALLY);
    expect((await api.call('DELETE', `/api/agents/${id}`)).status).toBe(204);
    await eventually(() => expect(tracesOf(id)).toEqual([]), EVENTUALLY);
  });
});
