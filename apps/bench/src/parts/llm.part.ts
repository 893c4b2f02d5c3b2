import { writeFileSync } from 'node:fs';
import { BenchError } from '../bench-error.js';
import type { BenchContext, Effort } from '../context.js';
import { AgentShell } from '../exec/agent-shell.js';
import { compare, type ComparisonPlan, type Side } from '../measure/compare.js';
import { bulk, repeatTimes } from '../measure/loops.js';
import { repeatedSide } from '../measure/repeated-side.js';
import { BerthProgram } from '../programs/berth-program.js';
import { ModelClient } from '../programs/model-client.js';
import { startUpstream } from '../programs/upstream-program.js';
import type { Part, Section } from './part.js';

const CALLERS = 32;
const STREAM_TOKENS = 4_000;
/** A model of short responses, and one of long ones. */
const MODELS = { short: { textTokens: 16 }, long: { textTokens: STREAM_TOKENS } };
/** Short streams for each wake of the effort. */
const STREAMS_PER_WAKE = 20;

/** Calls of a model through the metered route of an agent, compared with the same calls straight to the provider. */
export const llmPart: Part = {
  name: 'llm',
  async run(context) {
    await context.stop();
    const upstream = await startUpstream(context.env, MODELS);
    const berth = await berthWith(context, upstream.settings, upstream.operatorFile);
    const clients: Clients = {
      ours: await clientInAgent(berth),
      bare: new ModelClient(upstream.url, upstream.key, CALLERS),
    };
    try {
      const { effort } = context;
      const sections: Section[] = [];
      for (const plan of [
        firstPartPlan(effort, clients),
        tokensPlan(effort, clients),
        callsPlan(effort, clients),
      ])
        sections.push(await compare(plan, effort.rounds));
      return sections;
    } finally {
      await Promise.all([clients.ours.close(), clients.bare.close()]);
      await berth.stop();
      await upstream.program.stop();
    }
  },
};

interface Clients {
  readonly ours: ModelClient;
  readonly bare: ModelClient;
}

const berthWith = (
  context: BenchContext,
  settings: Readonly<Record<string, string | undefined>>,
  operatorFile: string,
): Promise<BerthProgram> => {
  const file = context.file('llm-berth.yaml');
  writeFileSync(file, operatorFile);
  return BerthProgram.start(context.file('llm-berth'), context.env, {
    settings: { ...settings, BERTH_CONFIG: file },
  });
};

/** The same client on the address and key that Berth gives to the program of an agent. */
const clientInAgent = async (berth: BerthProgram): Promise<ModelClient> => {
  const shell = new AgentShell(berth.api, await berth.createEcho('llm bench'));
  try {
    const { stdout = '' } = await shell.run('echo "$OPENAI_BASE_URL $OPENAI_API_KEY"');
    const [url = '', key = ''] = stdout.trim().split(' ');
    if (!URL.canParse(url)) throw new BenchError('The agent has no address of the metered models.');
    return new ModelClient(url, key, CALLERS);
  } finally {
    await shell.close();
  }
};

/** The same work by both clients. */
const sidesOf = ({ ours, bare }: Clients, side: (name: string, client: ModelClient) => Side) => ({
  ours: side('metered route', ours),
  limits: [side('the upstream itself', bare)],
});

const firstPartPlan = ({ warmWakes }: Effort, clients: Clients): ComparisonPlan => {
  const first = async (client: ModelClient): Promise<number> => (await client.stream('short')).firstMs;
  const times = warmWakes * STREAMS_PER_WAKE;
  return {
    title: 'LLM: from the call until the first part of its stream',
    measure: 'time',
    ...sidesOf(clients, (name, client) => ({
      name,
      warmUp: () => repeatTimes(times, () => first(client)),
      round: () => repeatTimes(times, () => first(client)),
    })),
  };
};

const tokensPlan = ({ roundMs, longWarmUpMs }: Effort, clients: Clients): ComparisonPlan => ({
  title: `LLM: one stream after the other, of ${STREAM_TOKENS.toLocaleString('en')} tokens that are sent at once`,
  measure: 'rate',
  unit: 'tokens',
  ...sidesOf(clients, (name, client) => ({
    name,
    warmUp: () => tokensFor(longWarmUpMs / 2, client),
    round: () => bulk(() => tokensFor(roundMs, client)),
  })),
});

/** Returns the number of tokens of the streams that began within `ms`. */
const tokensFor = async (ms: number, client: ModelClient): Promise<number> => {
  let tokens = 0;
  for (const end = performance.now() + ms; performance.now() < end; tokens += STREAM_TOKENS) {
    const { parts } = await client.stream('long');
    if (parts < STREAM_TOKENS) throw new BenchError(`A stream ended after ${String(parts)} parts.`);
  }
  return tokens;
};

const callsPlan = (effort: Effort, clients: Clients): ComparisonPlan => ({
  title: `LLM: short calls of one account, ${String(CALLERS)} at a time`,
  measure: 'rate',
  unit: 'calls',
  ...sidesOf(clients, (name, client) =>
    repeatedSide(name, { ...effort, warmUpMs: effort.longWarmUpMs, concurrency: CALLERS }, () =>
      client.complete('short'),
    ),
  ),
});
