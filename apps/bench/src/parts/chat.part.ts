import { compare, type Side } from '../measure/compare.js';
import { repeatFor } from '../measure/loops.js';
import type { Effort } from '../context.js';
import { ApiClient } from '../programs/api-client.js';
import { startEcho } from '../programs/echo-program.js';
import type { Part } from './part.js';

/** A message to an agent that is awake and its answer, against the same program asked directly. */
export const chatPart: Part = {
  name: 'chat',
  async run(context) {
    const berth = await context.berth();
    const agent = await berth.createEcho('chat bench');
    const echo = await startEcho(context.env);
    const direct = new ApiClient(echo.url);
    try {
      const plan = {
        title: 'Chat with an agent that is awake, one message after the other',
        measure: 'time',
        ours: side('POST /api/agents/{id}/chat', context.effort, () => berth.chat(agent)),
        limits: [
          side('POST /chat to the same program', context.effort, () =>
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

const side = (name: string, { roundMs, warmUpMs }: Effort, chat: () => Promise<unknown>): Side => ({
  name,
  warmUp: () => repeatFor(warmUpMs, 1, chat),
  round: () => repeatFor(roundMs, 1, chat),
});
