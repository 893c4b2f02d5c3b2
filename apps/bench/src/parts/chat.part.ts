import { compare } from '../measure/compare.js';
import { repeatedSide } from '../measure/repeated-side.js';
import { ApiClient } from '../programs/api-client.js';
import { startEcho } from '../programs/echo-program.js';
import type { Part } from './part.js';

/** A message to an awake agent and its reply, compared with calling the same program directly. */
export const chatPart: Part = {
  name: 'chat',
  async run(context) {
    const berth = await context.berth();
    const agent = await berth.createEcho('chat bench');
    const echo = await startEcho(context.env);
    const direct = new ApiClient(echo.url);
    const often = { ...context.effort, concurrency: 1 };
    try {
      const plan = {
        title: 'Chat with an awake agent, one message after the other',
        measure: 'time',
        ours: repeatedSide('POST /api/agents/{id}/chat', often, () => berth.chat(agent)),
        limits: [
          repeatedSide('POST /chat to the same program', often, () =>
            direct.call('POST', '/chat', { message: 'hello' }),
          ),
        ],
      } as const;
      return [await compare(plan, context.effort.rounds)];
    } finally {
      await direct.close();
      await echo.program.stop();
    }
  },
};
