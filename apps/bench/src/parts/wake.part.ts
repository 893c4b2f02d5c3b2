import { BenchError } from '../bench-error.js';
import type { BenchContext } from '../context.js';
import { compare, type Comparison } from '../measure/compare.js';
import { repeatTimes, timed } from '../measure/loops.js';
import { ApiClient } from '../programs/api-client.js';
import type { BerthProgram } from '../programs/berth-program.js';
import { startEcho } from '../programs/echo-program.js';
import type { Part } from './part.js';

/** A message to a sleeping agent: from sending it until the response has arrived. */
export const wakePart: Part = {
  name: 'wake',
  async run(context) {
    const berth = await context.berth();
    return [
      await warmWake(context, berth),
      await limitedWake(context, berth),
      await coldWake(context, berth),
    ];
  },
};

const warmWake = async ({ effort, env }: BenchContext, berth: BerthProgram): Promise<Comparison> => {
  const agent = await berth.createEcho('warm bench');
  const echo = await startEcho(env);
  const direct = new ApiClient(echo.url);
  const wake = async (): Promise<number> => {
    const { sleepDepth } = await berth.sleep(agent);
    if (sleepDepth !== 'warm') throw new BenchError(`The agent's sleep is ${String(sleepDepth)}, not warm.`);
    return timed(() => berth.chat(agent));
  };
  const resume = async (): Promise<number> => {
    echo.program.signal('SIGSTOP');
    return timed(() => {
      echo.program.signal('SIGCONT');
      return chat(direct);
    });
  };
  const plan = {
    title: 'Warm wake: a chat with an agent whose processes are frozen',
    measure: 'time',
    ours: {
      name: 'chat wakes the agent',
      warmUp: () => repeatTimes(3, wake),
      round: () => repeatTimes(effort.warmWakes, wake),
    },
    limits: [
      {
        name: 'SIGCONT + POST /chat',
        warmUp: () => repeatTimes(3, resume),
        round: () => repeatTimes(effort.warmWakes, resume),
      },
    ],
  } as const;
  try {
    return await compare(plan, effort.rounds);
  } finally {
    echo.program.signal('SIGCONT');
    await direct.close();
    await echo.program.stop();
  }
};

/** The wakes of an end user are counted before they begin. */
const limitedWake = async ({ effort }: BenchContext, berth: BerthProgram): Promise<Comparison> => {
  const externalUserId = 'bench';
  const limited = await berth.createEcho('limited bench', { externalUserId });
  const free = await berth.createEcho('free bench');
  const policy = { wakes_per_hour: 3_600, compute_minutes_cap: 1_000_000 };
  await berth.api.json('PUT', `/api/v1/end-users/${externalUserId}/policy`, { policy });
  const wake = (agent: string) => async (): Promise<number> => {
    await berth.sleep(agent);
    return timed(() => berth.chat(agent));
  };
  const side = (name: string, agent: string) => ({
    name,
    warmUp: () => repeatTimes(3, wake(agent)),
    round: () => repeatTimes(effort.warmWakes, wake(agent)),
  });
  const plan = {
    title: 'Warm wake of an agent whose end user has a policy',
    measure: 'time',
    ours: side('with a policy', limited),
    limits: [side('an agent without an end user', free)],
  } as const;
  return compare(plan, effort.manyRounds);
};

const coldWake = async ({ effort, env }: BenchContext, berth: BerthProgram): Promise<Comparison> => {
  const agents: string[] = [];
  for (let index = 0; index < effort.coldWakes; index++)
    agents.push(await berth.createEcho(`cold bench ${index}`));
  // They cool down together and are woken one by one.
  const cool = (): Promise<unknown> => Promise.all(agents.map((agent) => berth.sleepCold(agent)));
  const wake = (index: number): Promise<number> => timed(() => berth.chat(agents[index] ?? ''));
  const plan = {
    title: 'Cold wake: a chat with an agent whose processes are gone',
    measure: 'time',
    ours: {
      name: 'chat starts the agent',
      warmUp: cool,
      round: async () => {
        await cool();
        return repeatTimes(agents.length, wake);
      },
    },
    limits: [
      {
        name: 'spawn of node until POST /chat returns',
        warmUp: () => startOnce(env),
        round: () => repeatTimes(effort.coldWakes, () => startOnce(env)),
      },
    ],
  } as const;
  return compare(plan, effort.longRounds);
};

const startOnce = async (env: BenchContext['env']): Promise<number> => {
  const { program, url } = await startEcho(env);
  const direct = new ApiClient(url);
  const respondedInMs = await timed(() => chat(direct));
  await direct.close();
  await program.stop();
  return program.startedInMs + respondedInMs;
};

const chat = (direct: ApiClient): Promise<unknown> => direct.call('POST', '/chat', { message: 'hello' });
