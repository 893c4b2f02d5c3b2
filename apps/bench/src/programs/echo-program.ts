import { ECHO_AGENT } from '../paths.js';
import { childEnvironment, type Environment } from './child-environment.js';
import { ChildProgram } from './child-program.js';
import { freePort } from './free-port.js';

/** Starts the program of the template `echo`, without Berth. */
export const startEcho = async (env: Environment): Promise<{ program: ChildProgram; url: string }> => {
  const port = await freePort();
  const { program } = await ChildProgram.start({
    name: 'The echo program',
    command: process.execPath,
    args: [ECHO_AGENT],
    env: childEnvironment(env, { PORT: String(port) }),
    ready: /listening/,
  });
  return { program, url: `http://127.0.0.1:${port}` };
};
