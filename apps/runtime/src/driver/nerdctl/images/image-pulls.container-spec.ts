import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { containerTestHost, ImageRegistry } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { NerdctlProgram } from '../nerdctl-program.js';
import { ImageStore, type PullPolicy } from './image-store.js';

describe('runtime.pull', () => {
  let folder: string;
  let namespace: string;
  let registry: ImageRegistry;
  let nerdctl: NerdctlProgram;

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'berth-pulls-'));
    namespace = basename(folder);
    const { address, cniPath } = containerTestHost();
    const [dataRoot, networks] = ['data', 'networks'].map((name) => join(folder, name)) as [string, string];
    mkdirSync(join(folder, 'content'));
    nerdctl = new NerdctlProgram({
      program: 'nerdctl',
      address,
      environment: { CNI_PATH: cniPath },
      scope: { namespace, address, dataRoot, networks },
    });
    registry = await ImageRegistry.start();
  });

  afterAll(async () => {
    await nerdctl.call(['image', 'prune', '--all', '--force']);
    await nerdctl.call(['namespace', 'remove', namespace]);
    await registry.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  /** The images of a runtime that was just started. */
  const images = (): ImageStore =>
    new ImageStore(
      (args, options) => nerdctl.call(args, options),
      () => folder,
      async () => undefined,
    );

  /** Each image has content of its own: containerd does not ask a registry for layers that it has. */
  const push = (name: string, version: string): Promise<string> => {
    const content = `${name} ${version}`;
    writeFileSync(join(folder, 'content', 'file'), content);
    return registry.push(name, '1', join(folder, 'content'), { Cmd: ['/file'], Env: [`CONTENT=${content}`] });
  };

  const digestOf = async (store: ImageStore, name: string, policy: PullPolicy): Promise<string> =>
    (await store.obtain(`${registry.host}/${name}:1`, policy, true)).digest;

  it('never: an image that is not on the host cannot be had, and no registry is asked', async () => {
    await push('never', 'first');
    await expect(digestOf(images(), 'never', 'never')).rejects.toMatchObject({
      code: 'image_unavailable',
      message: `The image ${registry.host}/never:1 is not on the host of the agent, which pulls no images.`,
    });
    expect(registry.requests.filter((path) => path.startsWith('/v2/never/'))).toEqual([]);
  });

  it('never: an image that is on the host is used, also when the registry has a newer one', async () => {
    await push('loaded', 'first');
    const first = await digestOf(images(), 'loaded', 'missing');
    await push('loaded', 'second');
    const before = registry.requests.length;
    expect(await digestOf(images(), 'loaded', 'never')).toBe(first);
    expect(registry.requests).toHaveLength(before);
  });

  it('missing: an image that is on the host stays, also for the next runtime', async () => {
    await push('missing', 'first');
    const store = images();
    const first = await digestOf(store, 'missing', 'missing');
    await push('missing', 'second');
    expect(await digestOf(store, 'missing', 'missing')).toBe(first);
    expect(await digestOf(images(), 'missing', 'missing')).toBe(first);
  });

  it('always: each start has the image that the registry has now', async () => {
    await push('always', 'first');
    const store = images();
    const first = await digestOf(store, 'always', 'always');
    expect(await digestOf(store, 'always', 'always')).toBe(first);
    await push('always', 'second');
    expect(await digestOf(store, 'always', 'always')).not.toBe(first);
  });

  it('always: without the registry the image cannot be had, although it is on the host', async () => {
    await push('away', 'first');
    const store = images();
    await digestOf(store, 'away', 'always');
    registry.fail('away', 'lies');
    await push('away', 'second');
    await expect(digestOf(store, 'away', 'always')).rejects.toMatchObject({
      code: 'image_unavailable',
      message:
        `The image ${registry.host}/away:1 cannot be pulled. Check that it exists, and that the host of the agent can ` +
        'reach its registry and may pull from it.',
    });
  });
});
