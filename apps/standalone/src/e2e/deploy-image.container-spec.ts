import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '@berth/config';
import { eventually, ImageRegistry, type ImageProgram } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import { Files } from './files.fixture.js';
import { prepareContainerStack, stopContainerStack } from './container-stack.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

interface Deployment {
  readonly status: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly source: { readonly kind: string; readonly image?: string };
}

const folder = temporaryFolder();
const data = join(folder.path, 'data');
const api = new Api(() => stack);
let env: Env;
let registry: ImageRegistry;
let stack: StandaloneStack;

/** A folder with one static program and nothing else, and perhaps a few files. */
const rootOf = (name: string, files: Record<string, string> = {}, tools: readonly string[] = []): string => {
  const root = join(folder.path, name);
  mkdirSync(join(root, 'bin'), { recursive: true });
  copyFileSync('/usr/bin/busybox', join(root, 'busybox'));
  for (const tool of tools) symlinkSync('/busybox', join(root, 'bin', tool));
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(root, path, '..'), { recursive: true });
    writeFileSync(join(root, path), content);
  }
  return root;
};

/** Serves the root folder over HTTP. */
const serve = (more = ''): readonly string[] => [
  '/busybox',
  'sh',
  '-c',
  `${more}exec /busybox httpd -f -p $PORT -h /`,
];

beforeAll(async () => {
  mkdirSync(data);
  registry = await ImageRegistry.start();
  const config = join(folder.path, 'operator.yaml');
  writeFileSync(config, `deploy: { registries: ["${registry.host}", docker.io] }\n`);
  env = { ...(await prepareContainerStack(data)), BERTH_CONFIG: config };
  stack = await startStandaloneStack(data, env);
});

afterAll(async () => {
  await stopContainerStack(stack, env);
  await registry.stop();
  folder.remove();
});

const deploy = (agentId: string, image: string) =>
  api.post<{ deploymentId: string }>('/api/deploy', { agentId, source: 'image', image });

const ended = async (agentId: string, deploymentId: string): Promise<Deployment> =>
  eventually(
    async () => {
      const { body } = await api.get<Deployment & Record<string, unknown>>(
        `/api/agents/${agentId}/deployments/${deploymentId}`,
      );
      if (body.status !== 'succeeded' && body.status !== 'failed')
        throw new Error(`The deployment is ${JSON.stringify(body)}.`);
      return body;
    },
    { timeoutMs: 60_000 },
  );

const deployed = async (agentId: string, name: string): Promise<Deployment> => {
  const { status, body } = await deploy(agentId, `${registry.host}/${name}`);
  expect([status, body]).toMatchObject([202, { deploymentId: expect.any(String) as string }]);
  return ended(agentId, body.deploymentId);
};

/** An agent that runs that image. */
const agentOf = async (name: string, root: string, program: ImageProgram): Promise<string> => {
  await registry.push(name, '1', root, program);
  const { id } = await api.runningAgent();
  expect(await deployed(id, `${name}:1`)).toMatchObject({ status: 'succeeded', error: null });
  return id;
};

const sh = async (agentId: string, command: string): Promise<string> => {
  const { body } = await api.post(`/api/agents/${agentId}/exec`, { command });
  return `${String(body['stdout'])}${String(body['stderr'])}`.trim();
};

describe('an image that is deployed', () => {
  it('with one static program and nothing else runs: exec, files and logs work', async () => {
    const id = await agentOf('static', rootOf('static'), { Cmd: serve('echo it serves; ') });
    expect(await sh(id, 'echo $((6*7)) in $0; cd / && echo *')).toMatch(/^42 in .*\n.*busybox/);
    expect((await new Files(() => stack, id).write('a.txt', 'written\n')).status).toBeLessThan(300);
    expect(await sh(id, 'read line < a.txt; echo "$line"')).toBe('written');
    const logs = async () => JSON.stringify((await api.get(`/api/agents/${id}/logs?source=agent`)).body);
    await eventually(async () => expect(await logs()).toContain('it serves'));
  });

  it('is pinned: the agent names its digest, and keeps it when the tag moves', async () => {
    const root = rootOf('pinned', { version: 'one' }, ['sh', 'cat']);
    const id = await agentOf('pinned', root, { Cmd: serve() });
    const digest = await registry.push('pinned', '1', rootOf('pinned2', { version: 'two' }), {
      Cmd: serve(),
    });
    const { source } = (await api.get(`/api/agents/${id}`)).body as { source?: { image?: string } };
    expect(source).toEqual({
      kind: 'image',
      image: expect.stringMatching(/\/pinned@sha256:[0-9a-f]{64}$/) as string,
    });
    expect(source?.image).not.toContain(digest);
    await api.post(`/api/agents/${id}/restart`);
    await api.inState(id, 'running');
    expect(await sh(id, 'cat /version')).toBe('one');
  });

  it('runs with its command, folder, variables and user; PORT and the owner’s variables win', async () => {
    const files = {
      'etc/passwd': 'app:x:101:102::/srv:/bin/sh\n',
      'etc/group': 'app:x:102:\nstaff:x:50:app\n',
      'srv/here': '',
    };
    await registry.push('whole', '1', rootOf('whole', files, ['sh', 'id', 'env', 'pwd']), {
      Entrypoint: ['/busybox', 'sh', '-c'],
      Cmd: ['echo "runs in $(pwd) as $(id)"; env; exec /busybox httpd -f -p $PORT -h /'],
      Env: ['PATH=/bin', 'COLOUR=blue', 'SHAPE=round', 'PORT=1', 'BERTH_AGENT_ID=mine', 'HOME=/elsewhere'],
      WorkingDir: '/srv',
      User: 'app',
      ExposedPorts: { '1/tcp': {} },
      Volumes: { '/srv/data': {} },
      StopSignal: 'SIGUSR1',
      Healthcheck: { Test: ['CMD', '/bin/false'] },
    });
    const { id } = await api.runningAgent({ env: [{ key: 'SHAPE', value: 'square' }] });
    expect(await deployed(id, 'whole:1')).toMatchObject({ status: 'succeeded' });
    const { body } = await api.get<{ logs: readonly { message: string }[] }>(
      `/api/agents/${id}/logs?source=agent&limit=200`,
    );
    const lines = body.logs.map(({ message }) => message);
    expect(lines).toContain('runs in /srv as uid=101(app) gid=102(app) groups=50(staff)');
    expect(lines).toEqual(
      expect.arrayContaining(['COLOUR=blue', 'SHAPE=square', 'HOME=/workspace', `BERTH_AGENT_ID=${id}`]),
    );
    expect(lines).not.toContain('PORT=1');
    expect(await sh(id, 'id -u; echo x > $HOME/mine && echo wrote')).toBe('101\nwrote');
  });

  it('without a USER is root inside, in commands and files too; what it writes outlives sleep, not the next image', async () => {
    const tools = ['sh', 'id', 'cat', 'chown', 'stat', 'mkdir'];
    const files = { 'usr/lib/old': 'one' };
    const id = await agentOf('rooted', rootOf('rooted', files, tools), { Cmd: serve('id; ') });
    expect(
      await sh(id, 'id -u; echo two > /usr/lib/old; mkdir /opt; echo x > /opt/new; chown 33:34 /opt/new'),
    ).toBe('0');
    expect((await new Files(() => stack, id).write('a.txt', 'written\n')).status).toBeLessThan(300);
    expect(await sh(id, 'stat -c %u a.txt; cat a.txt')).toBe('0\nwritten');
    const { body } = await api.get(`/api/agents/${id}/stats`);
    expect(body['diskBytes']).toBeGreaterThan(0);
    expect((await api.post(`/api/agents/${id}/restart`)).status).toBeLessThan(300);
    await api.inState(id, 'running');
    expect(await sh(id, 'cat /usr/lib/old /opt/new; stat -c %u:%g /opt/new')).toBe('two\nx\n33:34');
    await registry.push('rooted', '2', rootOf('rooted2', files, tools), { Cmd: serve() });
    expect(await deployed(id, 'rooted:2')).toMatchObject({ status: 'succeeded' });
    expect(await sh(id, 'cat /usr/lib/old; echo; test -e /opt/new || echo gone; cat a.txt')).toBe(
      'one\ngone\nwritten',
    );
  });

  it('has folders for temporary files even if it lacks them', async () => {
    const id = await agentOf('bare', rootOf('bare', {}, ['sh', 'ls']), { Cmd: serve() });
    for (const path of ['/tmp', '/var/tmp', '/run', '/dev/shm'])
      expect(await sh(id, `echo x > ${path}/x && read line < ${path}/x && echo $line`)).toBe('x');
  });

  it('of a user by number keeps the volume of the version before', async () => {
    await registry.push('numbered', '1', rootOf('numbered', {}, ['sh', 'id', 'cat']), {
      Cmd: serve(),
      User: '4321:7',
    });
    const { id } = await api.runningAgent();
    await sh(id, 'echo kept > $HOME/kept; chmod 600 $HOME/kept');
    expect(await deployed(id, 'numbered:1')).toMatchObject({ status: 'succeeded' });
    expect(await sh(id, 'id -u; id -g; cat $HOME/kept; echo more >> $HOME/kept && echo wrote')).toBe(
      '4321\n7\nkept\nwrote',
    );
  });

  it.each([
    ['without a command', {}, /has no command/],
    ['whose command ends', { Cmd: ['/busybox', 'false'] }, /exited with code 1/],
    ['whose command is absent', { Cmd: ['/nowhere'] }, /./],
    ['of an unknown user', { Cmd: serve(), User: 'stranger' }, /user that it does not have/],
  ])('%s does not start: the version before runs again', async (what, program, message) => {
    const name = what.replaceAll(' ', '-');
    await registry.push(name, '1', rootOf(name), program);
    const { id } = await api.runningAgent();
    const { status, error } = await deployed(id, `${name}:1`);
    expect([status, error]).toMatchObject(['failed', { code: 'version_did_not_start' }]);
    expect(error?.message).toMatch(message);
    await api.inState(id, 'running');
    expect((await api.chat(id, 'hello')).status).toBe(200);
    expect((await api.get(`/api/agents/${id}`)).body).toMatchObject({ source: { kind: 'template' } });
  });

  it.each(['lies', 'breaks off'] as const)(
    'of a registry that %s fails with image_unavailable',
    async (fault) => {
      const name = fault.replace(' ', '-');
      await registry.push(name, '1', rootOf(name, { [name]: '' }), { Cmd: serve() });
      registry.fail(name, fault);
      const { id } = await api.runningAgent();
      const { status, error } = await deployed(id, `${name}:1`);
      expect([status, error?.code]).toEqual(['failed', 'image_unavailable']);
      expect(error?.message).not.toMatch(/nerdctl|127\.0\.0\.1|containerd/);
      expect((await api.chat(id, 'hello')).status).toBe(200);
      registry.fail(name, null);
      expect(await deployed(id, `${name}:1`)).toMatchObject({ status: 'succeeded' });
    },
  );

  it('of a registry that hangs holds up no other deployment, and ends with its agent', async () => {
    await registry.push('quick', '1', rootOf('quick'), { Cmd: serve() });
    registry.fail('endless', 'hangs');
    const waiting = await Promise.all([api.runningAgent(), api.runningAgent(), api.runningAgent()]);
    for (const { id } of waiting) expect((await deploy(id, `${registry.host}/endless`)).status).toBe(202);
    const { id } = await api.runningAgent();
    expect(await deployed(id, 'quick:1')).toMatchObject({ status: 'succeeded' });
    for (const { id: one } of waiting) {
      expect((await api.chat(one, 'hello')).status).toBe(200);
      expect((await api.call('DELETE', `/api/agents/${one}`)).status).toBe(204);
    }
  });

  it('that is refused is a 400 with its reason, and nothing is requested from a registry', async () => {
    const { id } = await api.runningAgent();
    const before = registry.requests.length;
    const refused = async (image: string) => {
      const response = await deploy(id, image);
      return [response.status, codeOf(response)];
    };
    expect(await refused('registry.example/app:1')).toEqual([400, 'image_refused']);
    expect(await refused('127.0.0.1:1/app')).toEqual([400, 'image_refused']);
    for (const image of [
      'https://docker.io/app',
      'App',
      'app@sha256:1',
      `${'a/'.repeat(1_999)}aa`,
      'a'.repeat(4_001),
    ])
      expect([image.slice(0, 9), ...(await refused(image))]).toEqual([
        image.slice(0, 9),
        400,
        'invalid_request',
      ]);
    expect(registry.requests.length).toBe(before);
  });
});
