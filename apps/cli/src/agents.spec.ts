import { newId } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { berth, type RecordedRequest, type ServiceResponse } from './recording-service.fixture.js';

const agentId = newId('agt');
const deploymentId = newId('dep');
const agent = {
  id: agentId,
  name: 'scout',
  state: 'running',
  source: { kind: 'template' },
  templateId: 'echo',
  createdAt: '2026-11-22T10:00:00.000Z',
};
const entry = (message: string) => ({
  timestamp: '2026-11-22T10:00:00.000Z',
  level: 'info',
  source: 'build',
  message,
});

/** Each read of the log returns one more line, and the deployment has ended after the second. */
const building = (
  error: { code: string; message: string } | null,
  source: { kind: string; image?: string } = { kind: 'git' },
) => {
  let lines = 0;
  return ({ method, url }: RecordedRequest): ServiceResponse => {
    if (url.startsWith('/api/agents?')) return { status: 200, body: { items: [agent], nextCursor: null } };
    if (method === 'POST') return { status: 202, body: { deploymentId, agent } };
    if (url.includes('/logs'))
      return { status: 200, body: { logs: [entry(`line ${++lines}`)], nextCursor: `c${lines}` } };
    const finishedAt = lines > 1 ? '2026-11-22T10:01:00.000Z' : null;
    return { status: 200, body: { id: deploymentId, source, commit: 'c0ffee', error, finishedAt } };
  };
};

describe('berth deploy', () => {
  it('finds the agent by its name, follows the build, and prints only what this build wrote', async () => {
    const options = ['--branch', 'dev', '--token-env', 'TOKEN'];
    const argv = ['deploy', 'scout', 'https://github.com/acme/bot', ...options];
    const { exitCode, out, err, seen } = await berth(argv, { respond: building(null) });
    expect([exitCode, out]).toEqual([0, `${deploymentId}\nline 2\nline 3\n`]);
    expect(err).toContain('c0ffee');
    expect(seen.find(({ method }) => method === 'POST')).toMatchObject({
      url: '/api/deploy',
      body: {
        agentId,
        source: 'git',
        repoUrl: 'https://github.com/acme/bot',
        branch: 'dev',
        tokenEnv: 'TOKEN',
      },
    });
    expect(seen.filter(({ url }) => url.includes('/logs')).map(({ url }) => url)).toEqual([
      expect.stringContaining('source=build') as string,
      expect.stringContaining('cursor=c1') as string,
      expect.stringContaining('cursor=c2') as string,
    ]);
  });

  it('deploys an image instead of a repository, and names its digest', async () => {
    const image = 'registry.example/bot@sha256:c0ffee';
    const argv = ['deploy', 'scout', '--image', 'registry.example/bot:1'];
    const { exitCode, err, seen } = await berth(argv, { respond: building(null, { kind: 'image', image }) });
    expect([exitCode, err]).toEqual([0, `Deployed ${image}.\n`]);
    expect(seen.find(({ method }) => method === 'POST')).toMatchObject({
      body: { agentId, source: 'image', image: 'registry.example/bot:1' },
    });
  });

  it.each([[[]], [['https://github.com/acme/bot', '--image', 'registry.example/bot:1']]])(
    'needs either a repository or an image, not %j',
    async (args) => {
      const { exitCode, seen } = await berth(['deploy', 'scout', ...args], { respond: building(null) });
      expect([exitCode, seen]).toEqual([2, []]);
    },
  );

  it('exits 1 with the reason when the deployment failed', async () => {
    const error = { code: 'build_failed', message: 'npm ci exited with code 1.' };
    const argv = ['deploy', agentId, 'https://x.org/y'];
    const { exitCode, err } = await berth(argv, { respond: building(error) });
    expect(exitCode).toBe(1);
    expect(err).toContain('build_failed: npm ci exited with code 1.');
  });

  it('does not wait when it is detached', async () => {
    const argv = ['deploy', agentId, 'https://x.org/y', '--detach'];
    const { out, seen } = await berth(argv, { respond: building(null) });
    expect(out).toBe(`${deploymentId}\n`);
    expect(seen).toHaveLength(1);
  });
});

describe('berth agents', () => {
  it('lists all pages', async () => {
    const respond = ({ url }: RecordedRequest): ServiceResponse => ({
      status: 200,
      body: url.includes('cursor=')
        ? { items: [{ ...agent, name: 'second', source: { repoUrl: 'https://x.org/y' } }], nextCursor: null }
        : { items: [agent], nextCursor: 'more' },
    });
    const { exitCode, out } = await berth(['agents', 'list'], { respond });
    expect(exitCode).toBe(0);
    expect(out).toMatch(/scout .*echo[\s\S]*second .*https:\/\/x.org\/y/);
  });

  it('creates one and waits until it runs', async () => {
    const { exitCode, out, seen } = await berth(['agents', 'create', 'scout', '--template', 'echo'], {
      respond: ({ method }) => ({ status: method === 'POST' ? 201 : 200, body: agent }),
    });
    expect([exitCode, out]).toEqual([0, `${agentId}\n`]);
    expect(seen.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'POST /api/agents',
      `GET /api/agents/${agentId}?wait=running&timeout=60`,
    ]);
  });

  it('prints logs with their time, level and source, without control characters', async () => {
    const logs = [{ ...entry('hello\u001b[2J'), source: 'agent', level: 'warn' }];
    const { out } = await berth(['agents', 'logs', agentId, '--source', 'agent'], {
      respond: () => ({ status: 200, body: { logs, nextCursor: null } }),
    });
    expect(out).toMatch(/^2026-11-22T10:00:00.000Z warn agent hello/);
    expect(out).not.toContain('\u001b');
  });

  it('runs a command and exits 1 when the command failed', async () => {
    const { exitCode, out, err, seen } = await berth(['agents', 'exec', agentId, '--', 'ls', '-l', 'a b'], {
      respond: () => ({ status: 200, body: { exitCode: 2, stdout: 'listed', stderr: 'not found\n' } }),
    });
    expect([exitCode, out]).toEqual([1, 'listed']);
    expect(err).toContain('not found\n');
    expect(err).toContain('exit code 2');
    expect(seen[0]?.body).toMatchObject({ command: ['ls', '-l', 'a b'], timeout: 60 });
  });

  it('runs nothing if no agent has the name', async () => {
    const { exitCode, seen } = await berth(['agents', 'exec', 'nobody', 'true'], {
      respond: () => ({ status: 200, body: { items: [], nextCursor: null } }),
    });
    expect(exitCode).toBe(1);
    expect(seen.map(({ method }) => method)).toEqual(['GET']);
  });
});
