import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** What `npm run test:containers` has prepared for the tests. */
export interface ContainerTestHost {
  /** Socket of the containerd of this run. */
  readonly address: string;
  /** Folder of the CNI plugins. */
  readonly cniPath: string;
  /** Folder of the images' archives. */
  readonly images: string;
}

/** Throws outside of `npm run test:containers`. */
export const containerTestHost = (): ContainerTestHost => {
  const { CONTAINERD_ADDRESS: address, CNI_PATH: cniPath, BERTH_TEST_IMAGES: images } = process.env;
  if (address === undefined || cniPath === undefined || images === undefined)
    throw new Error('Run the container tests with: npm run test:containers');
  return { address, cniPath, images };
};

/** Loads an image into a containerd namespace: `shell` (BusyBox), `scratch` (one program) or `debian`. */
export const loadTestImage = async (
  namespace: string,
  name: 'shell' | 'scratch' | 'debian',
): Promise<void> => {
  const { address, images } = containerTestHost();
  const archive = join(images, `${name}.tar`);
  await run('nerdctl', [
    `--address=${address}`,
    `--namespace=${namespace}`,
    'load',
    '--quiet',
    `--input=${archive}`,
  ]);
};
