import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { childEnvironment, type Environment } from '../programs/child-environment.js';
import { ChildProgram } from '../programs/child-program.js';

/** Starts an X server of its own with a window manager and a panel, waits until it accepts clients, and ends it. */
export const startBareDesktop = async (folder: string, env: Environment): Promise<number> => {
  mkdirSync(folder, { recursive: true });
  const args = ['-displayfd', '1', '-geometry', '1280x800', '-depth', '24', '-nolisten', 'tcp'];
  const vnc = ['-rfbport', '-1', '-rfbunixpath', join(folder, 'vnc'), '-SecurityTypes', 'None'];
  const { program, ready } = await ChildProgram.start({
    name: 'Xvnc',
    command: 'Xvnc',
    args: [...args, ...vnc],
    env: childEnvironment(env, {}),
    ready: /^(\d+)$/m,
    channel: false,
  });
  const startedInMs = program.startedInMs;
  const { program: manager } = await ChildProgram.start({
    name: 'openbox',
    command: 'openbox',
    args: ['--startup', 'echo ready'],
    env: childEnvironment(env, { DISPLAY: `:${ready[1] ?? ''}` }),
    ready: /ready/,
    channel: false,
  });
  const took = startedInMs + manager.startedInMs;
  await manager.stop();
  await program.stop();
  rmSync(folder, { recursive: true, force: true });
  return took;
};
