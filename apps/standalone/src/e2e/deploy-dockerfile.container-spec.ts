import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Env } from '@berth/config';
import { instanceOf, namespaceOf } from '@berth/host-requirements';
import { eventually, GitServer, ImageRegistry } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { prepareContainerStack, stopContainerStack } from './container-stack.fixture.js';
import { processesOf, signalAll } from './processes.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

interface Deployment {
  readonly status: string;
  readonly error: { readonly code: string; readonly message: string } | null;
  readonly source: Record<string, unknown>;
}

const BUILD_SECONDS = 40;
const TOOLS = 'sh sleep cat grep id ls mkdir chown touch env echo nc dd test ps pwd tr head wget adduser';
/** The agent's program. */
const SERVE = 'exec httpd -f -p $PORT -h /srv';

const folder = temporaryFolder();
const data = join(folder.path, 'data');
const api = new Api(() => stack);
let env: Env;
let git: GitServer;
let registry: ImageRegistry;
let stack: StandaloneStack;

beforeAll(async () => {
  chmodSync(folder.path, 0o755);
  mkdirSync(data, { mode: 0o700 });
  git = await GitServer.start();
  registry = await ImageRegistry.start();
  await registry.push('base', '1', baseRoot(), { Env: ['FROM_BASE=yes'] });
  const config = join(folder.path, 'operator.yaml');
  const hosts = `[{ host: "${git.host}", insecure: true }]`;
  writeFileSync(config, `deploy: { gitHosts: ${hosts}, registries: ["${registry.host}"] }\n`);
  env = {
    ...(await prepareContainerStack(data)),
    BERTH_CONFIG: config,
    GIT_SSL_CAINFO: git.caFile,
    BERTH_BUILD_SECONDS: String(BUILD_SECONDS),
  };
  stack = await startStandaloneStack(data, env);
});

afterAll(async () => {
  await stopContainerStack(stack, env);
  await Promise.all([git.stop(), registry.stop()]);
  folder.remove();
});

/** BusyBox alone. */
const baseRoot = (): string => {
  const root = join(folder.path, 'base');
  for (const name of ['bin', 'etc', 'tmp', 'srv']) mkdirSync(join(root, name), { recursive: true });
  copyFileSync('/usr/bin/busybox', join(root, 'bin', 'busybox'));
  for (const tool of [...TOOLS.split(' '), 'httpd']) symlinkSync('busybox', join(root, 'bin', tool));
  writeFileSync(join(root, 'etc', 'passwd'), 'root:x:0:0::/:/bin/sh\napp:x:101:102::/srv:/bin/sh\n');
  writeFileSync(join(root, 'etc', 'group'), 'root:x:0:\napp:x:102:\n');
  return root;
};

const deploy = async (agentId: string, name: string): Promise<string> => {
  const request = { agentId, source: 'git', repoUrl: git.urlOf(name) };
  const { status, body } = await api.post<{ deploymentId: string }>('/api/deploy', request);
  expect(status).toBe(202);
  return body.deploymentId;
};

const ended = (agentId: string, deploymentId: string): Promise<Deployment> =>
  eventually(
    async () => {
      const path = `/api/agents/${agentId}/deployments/${deploymentId}`;
      const { body } = await api.get<Deployment & Record<string, unknown>>(path);
      if (body.status !== 'succeeded' && body.status !== 'failed')
        throw new Error(`The deployment is ${JSON.stringify(body)}.`);
      return body;
    },
    { timeoutMs: 90_000 },
  );

const dockerfile = (...lines: readonly string[]): string =>
  [`FROM ${registry.host}/base:1`, ...lines, ''].join('\n');

/** Commits a repository with that Dockerfile and deploys it to a new agent. */
const deployed = async (name: string, text: string, files: Record<string, string> = {}) => {
  await git.commit(name, { Dockerfile: text, ...files });
  const { id } = await api.runningAgent({ env: [{ key: 'SECRET', value: 'of-the-owner', secret: true }] });
  const deploymentId = await deploy(id, name);
  return { id, deploymentId, deployment: await ended(id, deploymentId) };
};

const linesOf = async (agentId: string, source: 'build' | 'agent'): Promise<readonly string[]> => {
  const path = `/api/agents/${agentId}/logs?source=${source}&limit=1000`;
  const { body } = await api.get<{ logs: readonly { readonly message: string }[] }>(path);
  return body.logs.map(({ message }) => message);
};

const sh = async (agentId: string, command: string): Promise<string> => {
  const { body } = await api.post(`/api/agents/${agentId}/exec`, { command });
  return `${String(body['stdout'])}${String(body['stderr'])}`.trim();
};

const imagesOnHost = async (): Promise<readonly string[]> => {
  const namespace = namespaceOf(await instanceOf(join(data, 'runtime')));
  const { CONTAINERD_ADDRESS: address } = env;
  const args = [`--address=${address ?? ''}`, `--namespace=${namespace}`, 'images', '--names'];
  return execFileSync('nerdctl', [...args, '--format={{.Name}}'], { encoding: 'utf8' }).split('\n');
};

const builders = () => processesOf(data).filter(({ command }) => /^\S*buildkitd /.test(command));

/** What a build leaves on the host when it is over: nothing but its image. */
const expectNothingLeft = (): Promise<void> =>
  eventually(() => {
    expect(builders()).toEqual([]);
    expect(execFileSync('losetup', ['-n', '-l', '-O', 'BACK-FILE'], { encoding: 'utf8' })).not.toContain(
      join(data, 'runtime', 'tasks'),
    );
  });

describe('a repository with a Dockerfile', () => {
  it('is built in stages from an image of an allowed registry, and runs as the image says', async () => {
    const text = [
      `# syntax=docker/dockerfile:1`,
      `ARG BASE=${registry.host}/base:1`,
      'FROM $BASE AS build',
      'COPY greeting.txt /made/',
      'RUN echo "built here" >> /made/greeting.txt && env && id -u',
      `FROM ${registry.host}/base:1`,
      'ENV COLOUR=blue PORT=1',
      'COPY --from=build --chown=app:app /made /srv',
      'RUN mkdir /srv/own && chown 101:102 /srv/own',
      'WORKDIR /srv',
      'USER app',
      'RUN touch /srv/own/by-app && id -u',
      `CMD ["sh", "-c", "echo runs in $(pwd) as $(id -u) $COLOUR $FROM_BASE; ${SERVE}"]`,
    ].join('\n');
    const { id, deployment } = await deployed('stages', text, { 'greeting.txt': 'hello\n' });
    expect(deployment).toMatchObject({ status: 'succeeded', error: null, source: { kind: 'git' } });
    expect(await linesOf(id, 'agent')).toContain('runs in /srv as 101 blue yes');
    expect(await sh(id, 'cat /srv/greeting.txt; ls -ln /srv/own')).toMatch(
      /^hello\nbuilt here\n.* 101 +102 .*by-app$/s,
    );
    const log = await linesOf(id, 'build');
    expect(log).toEqual(expect.arrayContaining([expect.stringMatching(/RUN echo "built here"/)]));
    expect(log.join('\n')).not.toContain('of-the-owner');
    expect(await api.get(`/api/agents/${id}`)).toMatchObject({ body: { source: { kind: 'git' } } });
    await expectNothingLeft();
  });

  it('runs its steps without rights on the host, and in the network of agents', async () => {
    let reached = 0;
    const server = createServer((socket) => {
      reached++;
      socket.end();
    });
    await new Promise<void>((resolve) => server.listen(0, '0.0.0.0', resolve));
    const { port } = server.address() as AddressInfo;
    const probe = (host: string) =>
      `nc -w 3 ${host} ${String(port)} < /dev/null 2>&1 || echo closed to ${host}`;
    const text = dockerfile(
      'RUN cat /proc/self/uid_map; grep -E "^(CapEff|NoNewPrivs|Seccomp):" /proc/self/status; ps',
      `RUN ${probe('127.0.0.1')}; ${probe('10.0.0.1')}; ${probe('169.254.169.254')}`,
      'RUN ls /.berth /sys/fs/cgroup 2>&1; env; head -c 1 /proc/kcore 2>&1 | grep -c .',
      'RUN exit 42',
    );
    const { id, deployment } = await deployed('confined', text);
    server.close();
    expect(deployment.error).toMatchObject({
      code: 'build_failed',
      message: expect.stringContaining('exit code: 42') as string,
    });
    const log = (await linesOf(id, 'build')).join('\n');
    expect(log).toMatch(/ 0 +200000 +65536\n/);
    // The usual capabilities of containers, and neither SYS_ADMIN, NET_ADMIN nor SYS_PTRACE.
    expect(log).toMatch(/CapEff:\t00000000a80425fb\n.*NoNewPrivs:\t1\n.*Seccomp:\t2\n/);
    expect(log).not.toMatch(/buildkitd --/);
    expect(log).toMatch(/refused\n.*closed to 127\.0\.0\.1\n/);
    expect(reached).toBe(0);
    expect(log).toMatch(/closed to 10\.0\.0\.1\n/);
    expect(log).toMatch(/closed to 169\.254\.169\.254\n/);
    expect(log).not.toMatch(/of-the-owner|BERTH_/);
    expect((await api.chat(id, 'unharmed?')).status).toBe(200);
  });

  it('with a step that uses more memory than the agent has fails, and does not disturb the agent', async () => {
    const text = dockerfile('RUN dd if=/dev/zero of=/dev/null bs=4G count=1');
    const { id, deployment } = await deployed('bomb', text);
    expect(deployment.error).toMatchObject({
      code: 'build_failed',
      message: expect.stringContaining('memory') as string,
    });
    expect((await api.chat(id, 'unharmed?')).status).toBe(200);
    await expectNothingLeft();
  });

  it.each([
    ['is malformed', 'FROMM x\n', /Dockerfile could not be built: .*FROMM/],
    [
      'hides an image in a variable',
      'ARG A=xghcr.io/acme/app:1\nFROM ${A#x}\n',
      /ghcr\.io.* denied by policy/,
    ],
    ['has a failing step', 'RUN exit 3', /exit code: 3\.$/],
    [
      'uses an image of a registry that is not allowed',
      'FROM ghcr.io/acme/app:1\n',
      /does not allow.*ghcr\.io/,
    ],
  ])('that %s is build_failed, and says why', async (what, line, message) => {
    const text = line.startsWith('RUN') ? dockerfile(line) : line;
    const { deployment } = await deployed(what.replaceAll(' ', '-'), text);
    expect(deployment.error).toMatchObject({
      code: 'build_failed',
      message: expect.stringMatching(message) as string,
    });
  });

  it('whose base image its registry does not have is image_unavailable', async () => {
    const { deployment } = await deployed('absent', `FROM ${registry.host}/absent:1\n`);
    expect(deployment.error).toMatchObject({
      code: 'image_unavailable',
      message: expect.stringContaining('/absent:1') as string,
    });
  });

  it('without a command does not start: the version before runs again', async () => {
    const { id, deployment } = await deployed('idle', dockerfile('RUN touch /x'));
    expect(deployment.error).toMatchObject({ code: 'version_did_not_start' });
    await api.inState(id, 'running');
    expect((await api.chat(id, 'hello')).status).toBe(200);
  });

  it('keeps its image as long as a version may need it, and no longer', async () => {
    const serving = (what: string) => dockerfile(`RUN echo ${what} > /srv/index.html`, `CMD ${SERVE}`);
    const first = await deployed('kept', serving('one'));
    const before = (await imagesOnHost()).filter((name) => name.includes(first.deploymentId));
    expect([first.deployment.status, before.length > 0]).toEqual(['succeeded', true]);
    for (const version of ['two', 'three']) {
      await git.commit('kept', { Dockerfile: serving(version) });
      expect(await ended(first.id, await deploy(first.id, 'kept'))).toMatchObject({ status: 'succeeded' });
      expect(await sh(first.id, 'cat /srv/index.html')).toBe(version);
    }
    expect((await imagesOnHost()).join()).not.toContain(first.deploymentId);
    const ofBuilds = async () => (await imagesOnHost()).filter((name) => name.includes('berth.local/build/'));
    const others = (await ofBuilds()).length;
    expect((await api.call('DELETE', `/api/agents/${first.id}`)).status).toBeLessThan(300);
    await eventually(async () => (await ofBuilds()).length < others);
  });

  describe('whose BuildKit', () => {
    const begun = async (name: string, step: string): Promise<{ id: string; deploymentId: string }> => {
      await git.commit(name, { Dockerfile: dockerfile(`RUN ${step}`) });
      const { id } = await api.runningAgent();
      const deploymentId = await deploy(id, name);
      const isRunning = () => processesOf(data).some(({ command }) => command.includes(step));
      await eventually(isRunning, { timeoutMs: 30_000 });
      return { id, deploymentId };
    };
    const pids = () => builders().map(({ pid }) => pid);

    it('is killed fails, and nothing is left', async () => {
      const { id, deploymentId } = await begun('killed', 'sleep 601');
      signalAll(pids(), 'SIGKILL');
      expect((await ended(id, deploymentId)).error).toMatchObject({ code: 'build_failed' });
      await expectNothingLeft();
      expect(processesOf(data).filter(({ command }) => command.includes('sleep 601'))).toEqual([]);
    });

    it('hangs is build_timeout, and nothing is left', async () => {
      const { id, deploymentId } = await begun('hung', 'sleep 602');
      signalAll(pids(), 'SIGSTOP');
      expect((await ended(id, deploymentId)).error).toMatchObject({ code: 'build_timeout' });
      await expectNothingLeft();
      expect(processesOf(data).filter(({ command }) => command.includes('sleep 602'))).toEqual([]);
    });

    it('builds for an agent that is deleted ends with it', async () => {
      const { id } = await begun('deleted', 'sleep 603');
      expect((await api.call('DELETE', `/api/agents/${id}`)).status).toBeLessThan(300);
      await expectNothingLeft();
    });
  });
});
