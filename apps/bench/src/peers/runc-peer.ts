import { randomUUID } from 'node:crypto';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { childEnvironment } from '../programs/child-environment.js';
import { ChildProgram } from '../programs/child-program.js';
import { undoneOnFailure } from './clean-up.js';
import { endingWithParent, run } from './command-line.js';
import { findExecutable } from './executables.js';
import type { ContainerPeer, PeerPlace } from './peer.js';
import { FIRST_PROGRAM, writeRootFileSystem } from './root-file-system.js';

/** A container under runc alone, without a daemon; undefined if runc is not installed. */
export const openRuncPeer = async ({
  folder,
  env,
  folders,
  busybox,
}: PeerPlace): Promise<ContainerPeer | undefined> => {
  const command = findExecutable('runc', folders);
  if (command === undefined) return undefined;
  const bundle = join(folder, 'runc');
  const name = `berth-bench-${randomUUID().slice(0, 8)}`;
  const runc = { command, args: ['--root', join(bundle, 'state')], env: childEnvironment(env, {}) };
  return undoneOnFailure(async (cleanUp) => {
    cleanUp.add(() => rmSync(bundle, { recursive: true, force: true }));
    mkdirSync(bundle, { recursive: true });
    writeRootFileSystem(join(bundle, 'rootfs'), busybox);
    await run(runc, 'spec', ...(isRoot() ? [] : ['--rootless']), '--bundle', bundle);
    adaptSpec(join(bundle, 'config.json'));
    // Finds nothing if runc removed its container itself, which it cannot do when it is killed.
    cleanUp.add(() => run(runc, 'delete', '--force', name));
    const { program } = await ChildProgram.start({
      name: 'runc',
      ...endingWithParent({ ...runc, args: [...runc.args, 'run', '--bundle', bundle, name] }, folders),
      ready: /^ready$/m,
      channel: false,
    });
    cleanUp.add(() => program.stop());
    return {
      name: 'runc exec',
      exec: (inside) => run(runc, 'exec', name, ...inside),
      close: () => cleanUp.run(),
    };
  });
};

const isRoot = (): boolean => process.getuid?.() === 0;

interface RuncSpec {
  readonly process: object;
}

/** runc's own example, but with our first program and without a terminal. */
const adaptSpec = (file: string): void => {
  const spec = JSON.parse(readFileSync(file, 'utf8')) as RuncSpec;
  writeFileSync(
    file,
    JSON.stringify({ ...spec, process: { ...spec.process, terminal: false, args: FIRST_PROGRAM } }),
  );
};
