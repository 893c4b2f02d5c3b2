import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Env } from '@berth/config';
import { eventually } from '@berth/testing';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { prepareContainerStack, stopContainerStack } from './container-stack.fixture.js';
import { Executions } from './executions.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

/** Of the file system for the runtime's data: room for its kit and a few agents. */
const DISK_MB = 1_200;
const WORKS = { timeoutMs: 60_000, intervalMs: 500 };

const folder = temporaryFolder();
const runtimeData = join(folder.path, 'runtime');
const filler = join(runtimeData, 'filler');
const api = new Api(() => stack);
let env: Env;
let stack: StandaloneStack;

/** Takes all space that is left on the disk of the host, the last of it block by block. */
const fillDisk = (): void => {
  for (const size of ['1M', '4K']) {
    try {
      execFileSync(
        'dd',
        ['if=/dev/zero', `of=${filler}`, `bs=${size}`, 'oflag=append', 'conv=notrunc,fsync'],
        {
          stdio: 'ignore',
        },
      );
    } catch {
      // The disk is full now.
    }
  }
};

const freeDisk = (): void => rmSync(filler, { force: true });

beforeAll(async () => {
  mkdirSync(runtimeData, { mode: 0o700 });
  const image = join(folder.path, 'host.ext4');
  writeFileSync(image, '');
  execFileSync('truncate', ['--size', `${String(DISK_MB)}M`, image]);
  execFileSync('mkfs.ext4', ['-q', '-F', '-m', '0', image]);
  execFileSync('mount', ['-o', 'loop', image, runtimeData]);
  chmodSync(runtimeData, 0o700);
  env = await prepareContainerStack(folder.path);
  stack = await startStandaloneStack(folder.path, env);
});

afterEach(freeDisk);

afterAll(async () => {
  await stopContainerStack(stack, env);
  execFileSync('umount', [runtimeData]);
  folder.remove();
});

describe('while the disk of the host is full', () => {
  it('nothing hangs, and afterwards everything works and what was written is there', async () => {
    const { id } = await api.runningAgent({ templateId: 'blank' });
    const exec = new Executions(api, id);
    expect((await exec.run('echo kept > kept; sync')).body.exitCode).toBe(0);
    fillDisk();
    expect(statfsSync(runtimeData).bavail).toBeLessThan(16);
    const failed = await exec.run('timeout 20 dd if=/dev/zero of=lost bs=1M count=200 conv=fsync');
    expect(failed.status < 300 ? failed.body.exitCode : failed.status).not.toBe(0);
    const created = await api.post('/api/agents', { name: 'on a full disk', templateId: 'blank' });
    expect(created.status).toBe(201);
    const other = String(created.body['id']);
    freeDisk();
    await eventually(async () => {
      await api.post(`/api/agents/${id}/restart`);
      const { body } = await exec.run('rm -f lost; cat kept; echo more > more && echo wrote');
      expect(body.stdout).toBe('kept\nwrote\n');
    }, WORKS);
    // Its start was tried again and again, or has failed.
    await api.post(`/api/agents/${other}/start`);
    await api.inState(other, 'running', WORKS.timeoutMs);
    const after = await api.runningAgent({ templateId: 'blank' });
    expect((await new Executions(api, after.id).run('echo works')).body.stdout).toBe('works\n');
  });
});
