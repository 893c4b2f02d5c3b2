import { mkdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { readEnv, type Env } from '@berth/config';
import { instanceOf, namespaceOf, readHostMeans } from '@berth/host-requirements';
import { CliError, EXIT } from '../cli-error.js';
import type { Terminal } from '../terminal.js';
import { runShown } from './run-shown.js';

const IMAGE = 'berth-desktop';

/** Builds the image in which the computers of this installation run, where its driver finds it. */
export const buildDesktopImage = async (folder: string, env: Env, { err }: Terminal): Promise<void> => {
  const reader = readEnv(env);
  const means = readHostMeans(reader, { runtimeClass: '', subidUser: '' });
  const data = reader.path('BERTH_RUNTIME_DATA', join(reader.path('BERTH_DATA', '.data'), 'runtime'));
  const { nerdctl, address, nerdctlSettings, path } = reader.done(means);
  await stat(join(folder, 'Dockerfile')).catch((error: unknown) => {
    throw new CliError(
      EXIT.usage,
      `${folder} has no Dockerfile. Run this in the folder of Berth, or give --image-folder.`,
      {
        cause: error,
      },
    );
  });
  await mkdir(data, { recursive: true, mode: 0o700 });
  const namespace = namespaceOf(await instanceOf(data));
  const where = address === undefined ? [] : ['--address', address];
  const command = [nerdctl, ...where, '--namespace', namespace, 'build', '--tag', IMAGE, folder];
  err.write(`+ ${command.join(' ')}\n`);
  if (await runShown(command, { ...nerdctlSettings, PATH: path })) return;
  throw new CliError(
    EXIT.unsuitableHost,
    'The image was not built. That needs containerd and a running buildkitd; docs/operations.md says how to load an image that was built elsewhere.',
  );
};
