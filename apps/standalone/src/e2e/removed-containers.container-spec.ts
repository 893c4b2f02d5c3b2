import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Env } from '@berth/config';
import { instanceOf, namespaceOf } from '@berth/host-requirements';
import { containerTestHost, eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { prepareContainerStack, stopContainerStack } from './container-stack.fixture.js';
import { Executions } from './executions.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

const execute = promisify(execFile);
const folder = temporaryFolder();
const api = new Api(() => stack);
let env: Env;
let stack: StandaloneStack;
let namespace: string;

beforeAll(async () => {
  env = await prepareContainerStack(folder.path);
  stack = await startStandaloneStack(folder.path, env);
  namespace = namespaceOf(await instanceOf(join(folder.path, 'runtime')));
});

afterAll(async () => {
  await stopContainerStack(stack, env);
  folder.remove();
});

const nerdctl = async (...args: readonly string[]): Promise<string> => {
  const scope = [`--address=${containerTestHost().address}`, `--namespace=${namespace}`];
  return (await execute('nerdctl', [...scope, ...args])).stdout;
};

/** Removes a container as an operator might who believes that it is left over. */
const removeContainerOf = async (agentId: string): Promise<void> => {
  const names = (await nerdctl('ps', '--all', '--format={{.Names}}')).split('\n');
  const name = names.find((one) => one.startsWith(`${agentId}.`));
  await nerdctl('rm', '--force', name ?? '');
};

const agentWithFile = async (): Promise<Executions> => {
  const { id } = await api.runningAgent();
  const exec = new Executions(api, id);
  expect((await exec.run('echo kept > $HOME/kept')).body).toMatchObject({ exitCode: 0 });
  return exec;
};

const expectKept = (exec: Executions): Promise<void> =>
  eventually(
    async () =>
      expect((await exec.run('cat $HOME/kept')).body).toMatchObject({ exitCode: 0, stdout: 'kept\n' }),
    { timeoutMs: 60_000, intervalMs: 200 },
  );

describe('an agent whose container was removed by hand', () => {
  it('runs again with its volume if it was awake, and others go on', async () => {
    const [agent, other] = [await agentWithFile(), await agentWithFile()];
    await other.run('echo same > /tmp/in-memory');
    await removeContainerOf(agent.agentId);
    await expectKept(agent);
    expect((await other.run('cat /tmp/in-memory')).body.stdout).toBe('same\n');
  });

  it('wakes with its volume if it slept warm', async () => {
    const agent = await agentWithFile();
    await api.post(`/api/agents/${agent.agentId}/sleep`);
    await api.inState(agent.agentId, 'sleeping');
    await removeContainerOf(agent.agentId);
    await expectKept(agent);
  });

  it('can be deleted, and leaves neither mount nor container', async () => {
    const { agentId } = await agentWithFile();
    await removeContainerOf(agentId);
    expect((await api.call('DELETE', `/api/agents/${agentId}`)).status).toBe(204);
    await eventually(async () => {
      expect(await readFile('/proc/self/mountinfo', 'utf8')).not.toContain(agentId);
      expect(await nerdctl('ps', '--all', '--format={{.Names}}')).not.toContain(agentId);
    });
  });
});
