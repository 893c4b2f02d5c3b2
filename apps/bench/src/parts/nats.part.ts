import { NatsLink, Requester } from '@berth/messaging';
import type { BenchContext } from '../context.js';
import { compare } from '../measure/compare.js';
import { repeatedSide } from '../measure/repeated-side.js';
import { bareRequest } from '../nats/bare-request.js';
import { echoRequest, ECHO_REQUEST } from '../nats/echo.request.js';
import { startHandlers } from '../nats/start-handlers.js';
import type { Part, Section } from './part.js';

const PARALLEL = 32;

/** A request between two services, both running as separate processes. */
export const natsPart: Part = {
  name: 'nats',
  async run(context) {
    const { natsUrl } = await context.infrastructure();
    const program = await startHandlers(natsUrl, context.env);
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
  const ours = (): Promise<unknown> => requester.request(echoRequest, ECHO_REQUEST);
  const bare = bareRequest(link.connection);
  const sections: Section[] = [];
  for (const concurrency of [1, PARALLEL]) {
    const often = { ...effort, concurrency };
    const plan = {
      title: `NATS request, ${concurrency === 1 ? 'one after the other' : `${concurrency} at a time`}`,
      measure: 'rate',
      ours: repeatedSide('Requester → Nest controller (BerthNatsServer)', often, ours),
      limits: [repeatedSide('bare request → subscription', often, bare)],
    } as const;
    sections.push(await compare(plan, effort.rounds));
  }
  return sections;
};
