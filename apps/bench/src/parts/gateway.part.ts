import { writeFileSync } from 'node:fs';
import autocannon from 'autocannon';
import { BenchError } from '../bench-error.js';
import type { BenchContext } from '../context.js';
import { compare, type Side } from '../measure/compare.js';
import { summarize, type Summary } from '../measure/statistics.js';
import { BARE_FASTIFY } from '../paths.js';
import type { ApiClient, ApiResponse } from '../programs/api-client.js';
import { childEnvironment } from '../programs/child-environment.js';
import { ChildProgram } from '../programs/child-program.js';
import type { Part } from './part.js';

const CONNECTIONS = 50;
/** Headers that every server adds itself. */
const CONNECTION_HEADERS = new Set([
  'connection',
  'keep-alive',
  'date',
  'content-length',
  'transfer-encoding',
]);

/** An authenticated GET through the gateway, compared with a server that returns a stored response. */
export const gatewayPart: Part = {
  name: 'gateway',
  async run(context) {
    const berth = await context.berth();
    const path = `/api/agents/${await berth.createEcho('gateway bench')}`;
    const bare = await startBareFastify(context, await berth.api.call('GET', path));
    try {
      const plan = {
        title: `GET /api/agents/{id} with a key, ${CONNECTIONS} connections`,
        measure: 'rate',
        aim: 0.3,
        ours: side('gateway (looks up key and agent each time)', context, berth.api, path),
        limits: [side('bare Fastify, the same bytes', context, { url: bare.url, key: berth.api.key }, path)],
      } as const;
      return [await compare(plan, context.effort.rounds)];
    } finally {
      await bare.program.stop();
    }
  },
};

const startBareFastify = async (
  context: BenchContext,
  response: ApiResponse,
): Promise<{ program: ChildProgram; url: string }> => {
  const headers = Object.fromEntries(
    Object.entries(response.headers).filter(([name]) => !CONNECTION_HEADERS.has(name)),
  );
  const file = context.file('response.json');
  writeFileSync(file, JSON.stringify({ body: response.text, headers }));
  const { program, ready } = await ChildProgram.start({
    name: 'The bare Fastify server',
    command: process.execPath,
    args: [BARE_FASTIFY, file],
    env: childEnvironment(context.env, {}),
    ready: /listening at (\S+)/,
  });
  return { program, url: ready[1] ?? '' };
};

type Target = Pick<ApiClient, 'url' | 'key'>;

const side = (name: string, { effort }: BenchContext, target: Target, path: string): Side => ({
  name,
  warmUp: () => load(target, path, 2 * effort.loadSeconds),
  round: () => load(target, path, effort.loadSeconds),
});

const load = async ({ url, key }: Target, path: string, seconds: number): Promise<Summary> => {
  const times: number[] = [];
  let refused = 0;
  const options = {
    url: `${url}${path}`,
    connections: CONNECTIONS,
    duration: seconds,
    headers: { authorization: `Bearer ${key ?? ''}` },
  };
  const begun = performance.now();
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const run = autocannon(options, (error: unknown, done) =>
      error ? reject(error as Error) : resolve(done),
    );
    run.on('response', (_client, status, _bytes, ms) => {
      times.push(ms);
      if (status !== 200) refused++;
    });
  });
  if (refused + result.errors > 0)
    throw new BenchError(`${refused + result.errors} of ${times.length} responses were not 200.`);
  return summarize(times, performance.now() - begun);
};
