import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { programArguments } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

describe('a runtime whose driver is unknown', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-runtime-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('exits with 78 and one line that lists the known drivers, and creates nothing', async () => {
    const data = join(folder, 'data');
    const env = {
      NATS_URL: 'nats://127.0.0.1:1',
      BERTH_RUNTIME: 'nonesuch',
      BERTH_RUNTIME_DATA: data,
    };
    const { code, output } = await new Promise<{ code: unknown; output: string }>((resolve) => {
      execFile(process.execPath, programArguments('runtime'), { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code, output: stdout + stderr }),
      );
    });
    expect(code).toBe(78);
    expect(output.trim().split('\n')).toHaveLength(1);
    expect(output).toMatch(/BERTH_RUNTIME must be one of process, nerdctl\b/);
    expect(output).not.toContain('nonesuch');
    expect(existsSync(data)).toBe(false);
  });
});
