import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '@berth/config';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf, type ApiResponse } from './api.fixture.js';
import { prepareContainerStack, stopContainerStack } from './container-stack.fixture.js';
import { Executions } from './executions.fixture.js';
import { Files } from './files.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

const folder = temporaryFolder();
let env: Env;
let stack: StandaloneStack;
const data = join(folder.path, 'data');
const templates = join(folder.path, 'templates');
const api = new Api(() => stack);

/** Serves, and uses memory without end as soon as its volume has a file `bomb`, which it deletes. */
const GREEDY = `
import { existsSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
createServer((_, response) => response.end('ok')).listen(Number(process.env.PORT), '127.0.0.1');
setInterval(() => {
  if (!existsSync('/workspace/bomb')) return;
  rmSync('/workspace/bomb');
  for (const kept = []; ; ) kept.push(Buffer.alloc(16 * 1024 * 1024, 1));
}, 50);
`;

beforeAll(async () => {
  mkdirSync(data);
  mkdirSync(join(templates, 'greedy'), { recursive: true });
  writeFileSync(join(templates, 'greedy', 'agent.mjs'), GREEDY);
  const template = {
    id: 'greedy',
    name: 'Greedy',
    description: 'For tests.',
    resources: { memMb: 256, vcpus: 1, diskGb: 1 },
    capabilities: ['exec'],
    env: [],
    program: { command: ['node', 'agent.mjs'] },
  };
  writeFileSync(join(templates, 'greedy', 'template.json'), JSON.stringify(template));
  env = { ...(await prepareContainerStack(data)), BERTH_TEMPLATES_DIR: templates };
  stack = await startStandaloneStack(data, env);
});

afterAll(async () => {
  await stopContainerStack(stack, env);
  folder.remove();
});

const refused = (response: ApiResponse): readonly unknown[] => [response.status, codeOf(response)];

interface Agent {
  readonly id: string;
  readonly exec: Executions;
  readonly files: Files;
}

const startAgent = async (more: Record<string, unknown> = {}): Promise<Agent> => {
  const { id } = await api.runningAgent({ templateId: 'blank', ...more });
  return { id, exec: new Executions(api, id), files: new Files(() => stack, id) };
};

describe('an agent whose volume is full', () => {
  let full: Agent;
  let neighbour: Agent;
  let content: string;
  const listed = async (): Promise<string> =>
    (await full.exec.run('ls -AR; ls -A /workspace | wc -l')).body.stdout;

  beforeAll(async () => {
    full = await startAgent({ resources: { diskGb: 1 } });
    neighbour = await startAgent();
    // A folder whose block has no room for another long name.
    await full.exec.run(
      'mkdir crowded; for n in $(seq -w 15); do touch crowded/$n$(printf %0253d 0); done; touch file',
    );
    const filled = await full.exec.run(
      'while fallocate -l 64M big-$((n += 1)); do :; done; cat /dev/zero > rest',
    );
    expect([filled.body.exitCode, filled.body.stderr]).toEqual([
      1,
      expect.stringContaining('No space left on device'),
    ]);
    content = await listed();
  });

  it.each<[string, (files: Files) => Promise<ApiResponse>]>([
    ['write', (files) => files.write('new/file', 'x'.repeat(10_000))],
    ['upload', (files) => files.upload(Buffer.alloc(3_000_000), { name: 'file', dest_dir: 'new' })],
    ['attachment', (files) => files.upload(Buffer.alloc(5_000), { name: 'file' })],
    ['mkdir', (files) => files.mkdir('new/folder')],
    ['move', (files) => files.move('file', `crowded/${'m'.repeat(255)}`)],
  ])('gets 507 volume_full for %s, which leaves nothing behind', async (_, call) => {
    expect(refused(await call(full.files))).toEqual([507, 'volume_full']);
    expect(await listed()).toBe(content);
  });

  it('is readable, and its neighbours can write', async () => {
    expect((await full.files.list()).status).toBe(200);
    expect((await full.files.download('file')).status).toBe(200);
    expect((await neighbour.files.write('file', 'x'.repeat(100_000))).status).toBe(200);
    expect((await neighbour.exec.run('fallocate -l 64M file')).body.exitCode).toBe(0);
  });

  it('can be woken from cold sleep, and can be written to after a delete', async () => {
    await api.post(`/api/agents/${full.id}/sleep`);
    await api.inState(full.id, 'sleeping');
    expect((await full.files.delete('big-1')).status).toBe(200);
    await eventually(async () => {
      expect((await full.files.write('new/file', 'x'.repeat(10_000))).status).toBe(200);
    });
    expect((await full.exec.run('echo x > by-program && cat by-program')).body.stdout).toBe('x\n');
  });
});

describe('an agent that uses all of its memory', () => {
  /** Process ids of its program. */
  const programOf = async ({ exec }: Agent): Promise<string> => {
    const isProgram = `tr '\\0' ' ' < $p/cmdline | grep -q '^[^ ]*node agent.mjs $'`;
    return (await exec.run(`for p in /proc/[0-9]*; do ${isProgram} && echo $p; done`)).body.stdout;
  };

  it('in an execution, loses that execution, which ends with exit code 137, and nothing else', async () => {
    const agent = await startAgent({ templateId: 'greedy' });
    const before = await programOf(agent);
    expect(before).toMatch(/^\/proc\/\d+\n$/);
    const bomb = 'exec node -e "for (const kept = []; ; ) kept.push(Buffer.alloc(16 << 20, 1))"';
    expect((await agent.exec.run(bomb)).body).toMatchObject({ exitCode: 137 });
    expect(await programOf(agent)).toBe(before);
    expect((await agent.exec.run('echo alive')).body.stdout).toBe('alive\n');
  });

  it('in its program, has it restarted and says why, while its guest and its other processes continue to run', async () => {
    const agent = await startAgent({ templateId: 'greedy' });
    const before = await programOf(agent);
    const sleeper = await agent.exec.begin('sleep 300');
    expect((await agent.files.write('bomb', '')).status).toBeLessThan(300);
    await eventually(
      async () => {
        const { body } = await api.get(`/api/agents/${agent.id}`);
        expect(body).toMatchObject({ state: 'running', lastError: { code: 'out_of_memory' } });
        const now = await programOf(agent);
        expect(now).toMatch(/^\/proc\/\d+\n$/);
        expect(now).not.toBe(before);
      },
      { timeoutMs: 30_000 },
    );
    expect((await agent.exec.get(sleeper)).body).toMatchObject({ status: 'running' });
  });
});
