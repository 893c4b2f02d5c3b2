import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { undoneOnFailure } from '../peers/clean-up.js';
import { childEnvironment, type Environment } from '../programs/child-environment.js';
import { ChildProgram } from '../programs/child-program.js';

/** An X server with a window manager, without Berth. */
export interface BareDesktop {
  /** Until the X server accepted clients, and then until the window manager was ready. */
  readonly startedInMs: number;
  /** The socket of its VNC server. */
  readonly vncSocket: string;
  /** The variables of its clients. */
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

export const startBareDesktop = (folder: string, env: Environment): Promise<BareDesktop> =>
  undoneOnFailure(async (cleanUp) => {
    cleanUp.add(() => rmSync(folder, { recursive: true, force: true }));
    mkdirSync(folder, { recursive: true });
    const vncSocket = join(folder, 'vnc');
    const args = ['-displayfd', '1', '-geometry', '1280x800', '-depth', '24', '-nolisten', 'tcp'];
    const { program: server, ready } = await ChildProgram.start({
      name: 'Xvnc',
      command: 'Xvnc',
      args: [...args, '-rfbport', '-1', '-rfbunixpath', vncSocket, '-SecurityTypes', 'None'],
      env: childEnvironment(env, {}),
      ready: /^(\d+)$/m,
      channel: false,
    });
    cleanUp.add(() => server.stop());
    const clients = childEnvironment(env, { DISPLAY: `:${ready[1] ?? ''}` });
    const { program: manager } = await ChildProgram.start({
      name: 'openbox',
      command: 'openbox',
      args: ['--startup', 'echo ready'],
      env: clients,
      ready: /ready/,
      channel: false,
    });
    cleanUp.add(() => manager.stop());
    const startedInMs = server.startedInMs + manager.startedInMs;
    return { startedInMs, vncSocket, env: clients, stop: () => cleanUp.run() };
  });
