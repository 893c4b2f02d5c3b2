import type { BenchContext } from '../context.js';
import { compare, type Comparison } from '../measure/compare.js';
import { repeatTimes, repeatWhile, timed } from '../measure/loops.js';
import { repeatedSide } from '../measure/repeated-side.js';
import { BARE_WEBHOOK } from '../paths.js';
import { ApiClient } from '../programs/api-client.js';
import type { BerthProgram } from '../programs/berth-program.js';
import { childEnvironment } from '../programs/child-environment.js';
import { ChildProgram } from '../programs/child-program.js';
import { WebhookCaller } from '../programs/webhook-caller.js';
import type { Part } from './part.js';

/** Each has an agent of its own, whose queue must not become full. */
const CALLERS = 8;
/** Invokes with wrong tokens, of so many callers at a time. */
const GUESSES = 10_000;
const GUESSERS = 32;

/** How fast webhooks are accepted, and how soon the agent has the message. */
export const webhookPart: Part = {
  name: 'webhook',
  async run(context) {
    const berth = await context.berth();
    return [
      await handOver(context, berth, 'awake', () => Promise.resolve()),
      await handOver(context, berth, 'warm', (agent) => berth.sleep(agent)),
      await handOver(context, berth, 'cold', (agent) => berth.sleepCold(agent)),
      await acceptance(context, berth, 'awake'),
      await acceptance(context, berth, 'stopped'),
      await flood(context, berth),
    ];
  },
};

/** From the invoke until the list shows the delivery, compared with a chat, which waits for the same agent. */
const handOver = async (
  { effort }: BenchContext,
  berth: BerthProgram,
  state: 'awake' | 'warm' | 'cold',
  prepare: (agent: string) => Promise<unknown>,
): Promise<Comparison> => {
  const agent = await berth.createEcho(`webhook ${state} bench`);
  const caller = new WebhookCaller(berth, agent);
  const times = state === 'cold' ? effort.coldWakes : effort.warmWakes;
  const invoke = async (): Promise<number> => {
    await prepare(agent);
    await caller.rotate();
    return timed(async () => caller.delivered(await caller.invoke()));
  };
  const chat = async (): Promise<number> => {
    await prepare(agent);
    return timed(() => berth.chat(agent));
  };
  const side = (name: string, work: () => Promise<number>) => ({
    name,
    warmUp: () => repeatTimes(state === 'cold' ? 1 : 3, work),
    round: () => repeatTimes(times, work),
  });
  const plan = {
    title: `Webhook: from the invoke until the delivery, agent ${state}`,
    measure: 'time',
    ours: side('POST /api/webhooks/{id}', invoke),
    limits: [side('chat with the same agent', chat)],
  } as const;
  try {
    return await compare(plan, state === 'cold' ? effort.longRounds : effort.rounds);
  } finally {
    await caller.close();
  }
};

/** The invokes of stopped agents are only accepted; messages of the other agents are also handed over meanwhile. */
const acceptance = async (
  context: BenchContext,
  berth: BerthProgram,
  state: 'awake' | 'stopped',
): Promise<Comparison> => {
  const callers: WebhookCaller[] = [];
  for (let n = 0; n < CALLERS; n++) {
    const agent = await berth.createEcho(`webhook bench ${state} ${n}`);
    if (state === 'stopped') await berth.api.call('POST', `/api/agents/${agent}/stop`);
    callers.push(new WebhookCaller(berth, agent));
  }
  const bare = await ChildProgram.start({
    name: 'The bare webhook server',
    command: process.execPath,
    args: [BARE_WEBHOOK, context.file('webhooks.jsonl')],
    env: childEnvironment(context.env, {}),
    ready: /listening at (\S+)/,
  });
  const direct = new ApiClient(bare.ready[1] ?? '');
  const often = { ...context.effort, concurrency: CALLERS };
  const plan = {
    title: `Webhook: accepted invokes, ${CALLERS} callers, agents ${state}`,
    measure: 'rate',
    ours: repeatedSide('POST /api/webhooks/{id}', often, (n) => callers[n]?.invoke() ?? Promise.resolve()),
    limits: [
      repeatedSide('bare Fastify: write, fdatasync, 202', often, () =>
        direct.call('POST', '/api/webhooks/agt_bench', { message: 'hello' }),
      ),
    ],
  } as const;
  try {
    return await compare(plan, context.effort.rounds);
  } finally {
    await Promise.all(callers.map((caller) => caller.close()));
    await direct.close();
    await bare.program.stop();
  }
};

/** The effect of many invokes with wrong tokens on invokes of the owner. They share the processors, but no limit. */
const flood = async ({ effort }: BenchContext, berth: BerthProgram): Promise<Comparison> => {
  const agent = await berth.createEcho('webhook flood bench');
  const [owner, guesser] = [new WebhookCaller(berth, agent), new WebhookCaller(berth, agent)];
  const invoke = async (): Promise<number> => {
    await owner.ready();
    return timed(() => owner.invoke());
  };
  const during = async () => {
    let left = GUESSES / effort.rounds;
    const guess = async (): Promise<void> => {
      while (left-- > 0) await guesser.guess();
    };
    const guessing = Promise.all(Array.from({ length: GUESSERS }, guess));
    const summary = await repeatWhile(() => left > 0, invoke);
    await guessing;
    return summary;
  };
  const warmUp = () => repeatTimes(5, invoke);
  const plan = {
    title: `Webhook: an invoke with the right token, during ${GUESSES.toLocaleString('en')} with wrong ones`,
    measure: 'time',
    ours: { name: `beside ${String(GUESSERS)} callers with wrong tokens`, warmUp, round: during },
    limits: [{ name: 'alone', warmUp, round: () => repeatTimes(20, invoke) }],
  } as const;
  try {
    return await compare(plan, effort.rounds);
  } finally {
    await Promise.all([owner.close(), guesser.close()]);
  }
};
