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
const api = new Api(() => stack);

beforeAll(async () => {
  env = await prepareContainerStack(folder.path);
  stack = await startStandaloneStack(folder.path, env);
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
