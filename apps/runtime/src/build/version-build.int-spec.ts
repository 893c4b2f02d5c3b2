import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BuildVersion } from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { createLogger } from '@berth/telemetry';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { LastingOptions } from '../agent/lasting-options.js';
import type { Driver } from '../driver/driver.js';
import { SystemLog } from '../logs/system-log.js';
import { VersionBuild } from './version-build.js';
import { VersionStore } from './version-store.js';

const PINNED = 'ghcr.io/acme/app@sha256:00';
const CLOSED: LastingOptions = { runtimeClass: 'kata', network: 'none', volumePath: null };

describe('a build for an agent whose template the operator has removed', () => {
  const [agentId, earlier] = [newId('agt'), newId('dep')];
  let dataDir: string;
  let versions: VersionStore;

  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'berth-build-'));
    const driver: Pick<Driver, 'codeFolder' | 'remove' | 'removeBuiltImage'> = {
      codeFolder: (_agentId, deploymentId) => join(dataDir, 'versions', deploymentId),
      remove: () => Promise.resolve(),
      removeBuiltImage: () => Promise.resolve(),
    };
    versions = new VersionStore(driver as Driver, { dataDir });
  });

  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  const build = (keep: readonly string[]) => {
    const driver = { pinImage: () => Promise.resolve(PINNED) } as unknown as Driver;
    const settings = { builds: { timeoutSeconds: 20 } } as never;
    const log = createLogger({ service: 'test', level: 'silent' });
    const noTemplate = { get: () => undefined };
    const builds = new VersionBuild(driver, versions, noTemplate, new SystemLog({ dataDir }), settings, log);
    const request: BuildVersion = {
      agentId,
      deploymentId: newId('dep'),
      origin: { kind: 'image', image: 'ghcr.io/acme/app:1', insecure: false },
      templateId: 'removed',
      resources: { memMb: 256, vcpus: 1, diskGb: 1 },
      keep,
      seen: 'waiting',
    };
    return builds.run(request, new AbortController().signal);
  };

  it('keeps the network and runtime class that a version of the agent has', async () => {
    const version = { image: PINNED, container: CLOSED };
    await versions.save({ agentId, deploymentId: earlier }, { state: 'built', image: PINNED, version });
    expect(await build([newId('dep'), earlier])).toMatchObject({ state: 'built', version });
  });

  it('fails when no version of the agent says which these are', async () => {
    expect(await build([])).toMatchObject({
      state: 'failed',
      code: 'build_failed',
      message: expect.stringContaining('template "removed"') as string,
    });
  });
});
