import { execFile } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readHostFacts } from '@berth/host-requirements';
import { programArguments } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

describe('a runtime on a host without what the nerdctl driver needs', () => {
  let folder: string;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-runtime-'));
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  const start = async (nerdctl: string): Promise<{ code: unknown; lines: readonly string[] }> => {
    const data = join(folder, 'data');
    const env = {
      NATS_URL: 'nats://127.0.0.1:1',
      BERTH_RUNTIME: 'nerdctl',
      BERTH_RUNTIME_DATA: data,
      PATH: folder,
      CONTAINERD_ADDRESS: join(folder, 'containerd.sock'),
      CNI_PATH: folder,
      BERTH_NERDCTL: nerdctl,
    };
    const ended = await new Promise<{ code: unknown; output: string }>((resolve) => {
      execFile(process.execPath, programArguments('runtime'), { env }, (error, stdout, stderr) =>
        resolve({ code: error?.code, output: stdout + stderr }),
      );
    });
    expect(existsSync(data)).toBe(false);
    return { code: ended.code, lines: ended.output.trim().split('\n') };
  };

  it('exits with 69 and a line for each missing thing, and creates nothing', async () => {
    const { code, lines } = await start(join(folder, 'nerdctl'));
    expect(code).toBe(69);
    expect(lines).toContainEqual(expect.stringMatching(/nerdctl 2\.1 or newer is missing/));
    expect(lines).toContainEqual(expect.stringMatching(/containerd does not respond on \S+containerd\.sock/));
    expect(lines).toContainEqual(expect.stringMatching(/runc 1\.2 or newer is missing/));
    expect(lines).toContainEqual(expect.stringMatching(/CNI plugins bridge, host-local, loopback, firewall/));
  });

  it('exits with 69 and reports nerdctl as missing if a file of that name cannot be executed', async () => {
    const nerdctl = join(folder, 'nerdctl');
    writeFileSync(nerdctl, '', { mode: 0o644 });
    const { code, lines } = await start(nerdctl);
    expect(code).toBe(69);
    expect(lines).toContainEqual(expect.stringMatching(/nerdctl 2\.1 or newer is missing/));
  });

  it('is found out within 5 s although containerd does not respond', async () => {
    const nerdctl = join(folder, 'nerdctl');
    const hangs = '#!/bin/sh\n[ "$1" = --version ] && echo nerdctl version 2.1.2 && exit\nexec sleep 60\n';
    writeFileSync(nerdctl, hangs, { mode: 0o755 });
    const startedAt = performance.now();
    const means = {
      nerdctl,
      address: undefined,
      nerdctlSettings: {},
      cniPath: folder,
      subidUser: 'nobody-has-ids',
      runtimeClass: 'runc',
      path: folder,
    };
    const facts = await readHostFacts(means);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(facts).toMatchObject({ nerdctl: [2, 1], containerd: 'silent', hasSubordinateIds: false });
  });
});
