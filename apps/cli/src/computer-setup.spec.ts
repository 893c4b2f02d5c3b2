import { chmod, mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { instanceOf, namespaceOf } from '@berth/host-requirements';
import { describe, expect, it } from 'vitest';
import { berth, dataFolder } from './recording-service.fixture.js';

describe('berth computers setup with nerdctl', () => {
  const prepare = async (exitCode: number) => {
    const folder = await realpath(await dataFolder());
    const nerdctl = join(folder, 'nerdctl');
    await writeFile(nerdctl, `#!/bin/sh\necho "$@" > ${folder}/called\nexit ${exitCode}\n`);
    await chmod(nerdctl, 0o755);
    const image = join(folder, 'image');
    await mkdir(image);
    await writeFile(join(image, 'Dockerfile'), 'FROM scratch\n');
    const data = join(folder, 'runtime');
    const env = { BERTH_NERDCTL: nerdctl, BERTH_RUNTIME_DATA: data, BERTH_RUNTIME: 'nerdctl' };
    return { folder, image, data, env };
  };

  it('builds the image in the namespace of the installation, before its first start too', async () => {
    const { folder, image, data, env } = await prepare(0);
    const result = await berth(['computers', 'setup', '--image-folder', image], { env });
    expect(result).toMatchObject({ exitCode: 0, seen: [] });
    const namespace = namespaceOf(await instanceOf(data));
    const called = `--namespace ${namespace} build --tag berth-desktop ${image}`;
    expect(await readFile(join(folder, 'called'), 'utf8')).toBe(`${called}\n`);
    expect(result.err).toContain(`+ ${env.BERTH_NERDCTL} ${called}\n`);
  });

  it('exits 69 when the image could not be built, and 2 without its Dockerfile', async () => {
    const { folder, image, env } = await prepare(1);
    expect(await berth(['computers', 'setup', '--image-folder', image], { env })).toMatchObject({
      exitCode: 69,
      err: expect.stringContaining('buildkitd'),
    });
    expect((await berth(['computers', 'setup', '--image-folder', folder], { env })).exitCode).toBe(2);
  });
});
