import type { Environment } from '../programs/child-environment.js';
import { BenchError } from '../bench-error.js';
import { openDockerPeer } from './docker-peer.js';
import { findExecutable, usualFolders } from './executables.js';
import type { ContainerPeer } from './peer.js';
import { openRuncPeer } from './runc-peer.js';

export type { ContainerPeer } from './peer.js';

/**
 * Opens `docker exec` if a daemon responds or can be started for this run, else `runc exec`. Throws `BenchError` with
 * the command that installs what is missing, or with the output of the tools; leaves nothing behind in either case.
 */
export const openContainerPeer = async (
  folder: string,
  env: Environment,
  folders: readonly string[] = usualFolders(env),
): Promise<ContainerPeer> => {
  if (process.platform !== 'linux') throw new BenchError('The comparison with containers needs Linux.');
  const busybox = findExecutable('busybox', folders);
  if (busybox === undefined) throw missing('a static BusyBox to put into a container');
  const place = { folder, env, folders, busybox };
  const refusals: string[] = [];
  for (const open of [openDockerPeer, openRuncPeer]) {
    try {
      const peer = await open(place);
      if (peer !== undefined) return peer;
    } catch (error) {
      if (!(error instanceof BenchError)) throw error;
      refusals.push(error.message);
    }
  }
  throw refusals.length === 0
    ? missing('docker or runc to compare an execution with')
    : new BenchError(refusals.join('\n'));
};

const missing = (what: string): BenchError =>
  new BenchError(
    `The bench needs ${what}. Install it with: apt-get install -y docker.io busybox-static ` +
      '(or, without a daemon: apt-get install -y runc busybox-static)',
  );
