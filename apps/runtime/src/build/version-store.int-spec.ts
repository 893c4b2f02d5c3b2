import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { newId } from '@berth/kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Driver } from '../driver/driver.js';
import { VersionStore } from './version-store.js';

describe('the versions of an agent on its host', () => {
  let folder: string;
  let store: VersionStore;

  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'berth-versions-'));
    const driver: Pick<Driver, 'codeFolder' | 'remove' | 'removeBuiltImage'> = {
      codeFolder: (_agentId, deploymentId) => join(folder, 'versions', deploymentId),
      remove: () => Promise.resolve(),
      removeBuiltImage: () => Promise.resolve(),
    };
    store = new VersionStore(driver as Driver, { dataDir: folder });
  });

  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  /** A build that its process has not survived: it was copying the code. */
  const interrupted = async () => {
    const ref = { agentId: newId('agt'), deploymentId: newId('dep') };
    await store.save(ref, { state: 'building' });
    const copy = `${store.codeFolder(ref)}.next`;
    for (const made of [store.codeFolder(ref), copy]) {
      mkdirSync(made, { recursive: true });
      writeFileSync(join(made, 'file'), 'content');
    }
    return ref;
  };

  it('are discarded with a copy of the code that a crash has cut off', async () => {
    const ref = await interrupted();
    await store.discard(ref);
    expect(readdirSync(join(folder, 'versions'))).toEqual([]);
    expect(await store.read(ref)).toEqual({ state: 'building' });
  });

  it('are pruned with such copies', async () => {
    const ref = await interrupted();
    await store.prune(ref.agentId, []);
    expect(readdirSync(join(folder, 'versions'))).toEqual([]);
    expect(await store.read(ref)).toBeUndefined();
  });

  it('stay when they are kept', async () => {
    const ref = await interrupted();
    await store.prune(ref.agentId, [ref.deploymentId]);
    expect(existsSync(store.codeFolder(ref))).toBe(true);
  });
});
