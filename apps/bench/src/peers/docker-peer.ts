import { randomUUID } from 'node:crypto';
import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { childEnvironment } from '../programs/child-environment.js';
import { ChildProgram } from '../programs/child-program.js';
import { undoneOnFailure, type CleanUp } from './clean-up.js';
import { run, type CommandLine } from './command-line.js';
import { DockerDaemon } from './docker-daemon.js';
import { findExecutable } from './executables.js';
import type { ContainerPeer, PeerPlace } from './peer.js';
import { FIRST_PROGRAM, writeRootFileSystem } from './root-file-system.js';

/** A container under Docker; undefined if no daemon responds and none can be started. */
export const openDockerPeer = async (place: PeerPlace): Promise<ContainerPeer | undefined> => {
  const command = findExecutable('docker', place.folders);
  if (command === undefined) return undefined;
  return undoneOnFailure(async (cleanUp) => {
    const docker = await reachDaemon(
      { command, args: [], env: childEnvironment(place.env, {}) },
      place,
      cleanUp,
    );
    if (docker === undefined) return undefined;
    const name = await startContainer(docker, place, cleanUp);
    return {
      name: 'docker exec',
      exec: (inside) => run(docker, 'exec', name, ...inside),
      close: () => cleanUp.run(),
    };
  });
};

const reachDaemon = async (
  docker: CommandLine,
  { folder, folders }: PeerPlace,
  cleanUp: CleanUp,
): Promise<CommandLine | undefined> => {
  if (await responds(docker)) return docker;
  if (!DockerDaemon.canStart(folders)) return undefined;
  const daemon = await DockerDaemon.start(join(folder, 'docker'), docker.env, folders);
  cleanUp.add(() => daemon.stop());
  return { ...docker, env: daemon.clientEnvironment(docker.env) };
};

/** The client alone responds too, but with another exit code. */
const responds = (docker: CommandLine): Promise<boolean> =>
  run(docker, 'version').then(
    () => true,
    () => false,
  );

const startContainer = async (
  docker: CommandLine,
  { folder, busybox }: PeerPlace,
  cleanUp: CleanUp,
): Promise<string> => {
  const name = `berth-bench-${randomUUID().slice(0, 8)}`;
  const files = join(folder, 'image');
  cleanUp.add(() => rmSync(files, { recursive: true, force: true }));
  mkdirSync(files, { recursive: true });
  writeRootFileSystem(join(files, 'root'), busybox);
  const archive = join(files, 'root.tar');
  await run({ ...docker, command: 'tar' }, '-C', join(files, 'root'), '-cf', archive, '.');
  await run(docker, 'import', archive, name);
  cleanUp.add(() => run(docker, 'rmi', '--force', name));
  // Usually finds nothing; if it fails to remove the container, removing the image reports that.
  cleanUp.add(() => run(docker, 'rm', '--force', name).catch(() => undefined));
  // In the foreground: it ends with this process, even under a daemon that keeps running.
  const { program } = await ChildProgram.start({
    name: '"docker run"',
    command: docker.command,
    args: ['run', '--rm', '--network', 'none', '--name', name, name, ...FIRST_PROGRAM],
    env: docker.env,
    ready: /^ready$/m,
    channel: false,
  });
  cleanUp.add(() => program.stop());
  return name;
};
