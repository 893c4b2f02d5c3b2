import { NatsLink, Requester } from '@berth/messaging';
import type { NatsConnection } from '@nats-io/transport-node';
import type { BenchContext } from '../context.js';
import { compare, type Side } from '../measure/compare.js';
import { repeatFor } from '../measure/loops.js';
import { BARE_SUBJECT, echoRequest, QUESTION } from '../nats/echo.request.js';
import { NATS_HANDLERS } from '../paths.js';
import { childEnvironment } from '../programs/child-environment.js';
import { ChildProgram } from '../programs/child-program.js';
import type { Part, Section } from './part.js';

const PARALLEL = 32;

/** A request between two services, both processes as they are when every service is one of its own. */
export const natsPart: Part = {
  name: 'nats',
  async run(context) {
    const { natsUrl } = await context.infrastructure();
    const { program } = await ChildProgram.start({
      name: 'The handlers',
      command: process.execPath,
      args: [NATS_HANDLERS, natsUrl],
      env: childEnvironment(context.env, {}),
      ready: /listen/,
    });
    const link = await NatsLink.open({ url: natsUrl, name: 'bench', log: context.log });
    try {
      return await measure(context, link);
    } finally {
      await link.close();
      await program.stop();
    }
  },
};

const measure = async ({ effort }: BenchContext, link: NatsLink): Promise<readonly Section[]> => {
  const requester = new Requester(link);
  const ours = (): Promise<unknown> => requester.request(echoRequest, QUESTION);
  const bare = bareRequest(link.connection);
  const side = (name: string, concurrency: number, ask: () => Promise<unknown>): Side => ({
    name,
    warmUp: () => repeatFor(effort.warmUpMs, concurrency, ask),
    round: () => repeatFor(effort.roundMs, concurrency, ask),
  });
  const sections: Section[] = [];
  for (const concurrency of [1, PARALLEL]) {
    const plan = {
      title: `NATS request, ${concurrency === 1 ? 'one after the other' : `${concurrency} at a time`}`,
      measure: 'rate',
      ours: side('Requester → Nest controller (BerthNatsServer)', concurrency, ours),
      limits: [side('bare request → subscription', concurrency, bare)],
    } as const;
    sections.push(await compare(plan, effort.rounds));
  }
  return sections;
};

const bareRequest = (connection: NatsConnection): (() => Promise<unknown>) => {
  const bytes = Buffer.from(JSON.stringify(QUESTION));
  return () => connection.request(BARE_SUBJECT, bytes, { timeout: 10_000 });
};
