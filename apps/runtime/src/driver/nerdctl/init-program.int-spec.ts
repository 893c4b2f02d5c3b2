import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { initProgram } from './init-program.plan.js';

describe('process 1 of a container', () => {
  let folder: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-init-'));
    writeFileSync(join(folder, 'init'), initProgram(process.arch), { mode: 0o755 });
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it.each([
    ['exit 7', 7],
    ['kill -9 $$', 1],
  ])('exits with its command: %s', (script, code) => {
    expect(spawnSync(join(folder, 'init'), ['/bin/sh', '-c', script]).status).toBe(code);
  });

  it('starts nothing without a command', () => {
    expect(spawnSync(join(folder, 'init')).status).toBe(125);
  });

  it('passes TERM on to its command, and waits for it', async () => {
    const script = 'trap "echo ends; exit 3" TERM; echo begins; while :; do sleep 0.05; done';
    const init = spawn(join(folder, 'init'), ['/bin/sh', '-c', script], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let output = '';
    init.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    await once(init.stdout, 'data');
    init.kill('SIGTERM');
    expect(await once(init, 'exit')).toEqual([3, null]);
    expect(output).toBe('begins\nends\n');
  });

  it('exists for the processors that Node names x64 and arm64 only', () => {
    expect(initProgram('arm64').subarray(18, 20)).toEqual(Buffer.from([183, 0]));
    expect(() => initProgram('ia32')).toThrow('ia32');
  });
});
