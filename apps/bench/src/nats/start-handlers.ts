import { NATS_HANDLERS } from '../paths.js';
import { childEnvironment, type Environment } from '../programs/child-environment.js';
import { ChildProgram } from '../programs/child-program.js';

/** The far side of a request, as a process of its own. */
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
