import { NATS_HANDLERS } from '../paths.js';
import { childEnvironment, type Environment } from '../programs/child-environment.js';
import { ChildProgram } from '../programs/child-program.js';

/** Starts the request handlers in a separate process. */
export const startHandlers = async (natsUrl: string, env: Environment): Promise<ChildProgram> => {
  const { program } = await ChildProgram.start({
    name: 'The handlers',
    command: process.execPath,
    args: [NATS_HANDLERS, natsUrl],
    env: childEnvironment(env, {}),
    ready: /listen/,
  });
  return program;
};
