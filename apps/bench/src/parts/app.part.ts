import autocannon from 'autocannon';
import { BenchError } from '../bench-error.js';
import type { BenchContext } from '../context.js';
import { compare, type Side } from '../measure/compare.js';
import { summarize, type Summary } from '../measure/statistics.js';
import { startEcho } from '../programs/echo-program.js';
import type { Part, Section } from './part.js';

const PATH = '/health';

/** How many requests are under way at once, and the aim for their ratio. */
const LOADS = [
  { connections: 1, title: 'one at a time' },
  { connections: 50, title: '50 connections' },
] as const;

interface Target {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A request to an app through the gateway, compared with the same request straight to the program. */
export const appPart: Part = {
  name: 'app',
  async run(context) {
    const berth = await context.berth();
    const agent = await berth.createEcho('app bench');
    const echo = await startEcho(context.env);
    const port = new URL(berth.api.url).port;
    const ours: Target = {
      url: berth.api.url.replace('localhost', '127.0.0.1'),
      headers: {
        host: `${agent.replace('_', '-')}.apps.localhost:${port}`,
        authorization: `Bearer ${berth.api.key ?? ''}`,
      },
    };
    try {
      const sections: Section[] = [];
      for (const { connections, title } of LOADS) {
        const plan = {
          title: `GET ${PATH} of an app, ${title}`,
          measure: connections === 1 ? 'time' : 'rate',
          ours: side('at the origin of the app (looks up the key each time)', context, ours, connections),
          limits: [side('straight to the program', context, { url: echo.url, headers: {} }, connections)],
        } as const;
        sections.push(await compare(plan, context.effort.rounds));
      }
      return sections;
    } finally {
      await echo.program.stop();
    }
  },
};

const side = (name: string, { effort }: BenchContext, target: Target, connections: number): Side => ({
  name,
  warmUp: () => load(target, 2 * effort.loadSeconds, connections),
  round: () => load(target, effort.loadSeconds, connections),
});

const load = async ({ url, headers }: Target, seconds: number, connections: number): Promise<Summary> => {
  const times: number[] = [];
  let refused = 0;
  const options = { url: `${url}${PATH}`, connections, duration: seconds, headers: { ...headers } };
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
