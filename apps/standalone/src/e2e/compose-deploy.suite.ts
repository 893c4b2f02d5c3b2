import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { SERVICES } from '@berth/contracts/operations';
import type { FakeUpstream } from '@berth/testing/upstream';
import { beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import type { ComposeStack } from './compose.fixture.js';
import { Executions } from './executions.fixture.js';
import { LlmAgent } from './llm.fixture.js';

const EVERY_MS = 50;
/** From before the first service is replaced until after the last one has its successor. */
const LONG_MS = 60_000;
const DEPLOYED_WITHIN_MS = 600_000;
/** With the build of an image. */
const BUILT_WITHIN_MS = 900_000;
/** What can be replaced without the loss of a call. */
const SEAMLESS = [...SERVICES, 'gateway'];

/** Deploys of a compose installation by Nx. */
export const describeDeploys = (stack: () => ComposeStack, upstream: () => FakeUpstream): void => {
  describe('a deploy', () => {
    const api = new Api(stack);

    const byService = async (read: (service: string) => Promise<string>): Promise<Record<string, string>> => {
      const entries = [...SEAMLESS, 'runtime'].map(
        async (service) => [service, await read(service)] as const,
      );
      return Object.fromEntries(await Promise.all(entries));
    };
    const builtImages = () => byService((service) => stack().builtImageOf(service));
    const containers = () => byService((service) => stack().containerOf(service));

    beforeAll(async () => {
      await stack().commit();
    });

    it(
      'builds just the service that changed, replaces just that one, and loses no call',
      async () => {
        const [images, running] = [await builtImages(), await containers()];
        const { id } = await api.runningAgent();
        appendFileSync(join(stack().clone, 'apps/exec/src/main.ts'), '// Changed.\n');
        await stack().nx('affected', '-t', 'image', '--base=HEAD');
        const { exec: built, ...others } = await builtImages();
        expect({ ...others, exec: images['exec'] }).toEqual(images);
        expect(built).not.toBe(images['exec']);
        const traffic = new Traffic(api, id);
        await stack().nx('deploy', 'infra');
        expect((await traffic.end()).filter((outcome) => outcome !== 'ok')).toEqual([]);
        expect(await stack().imageOf('exec')).toBe(built);
        const { exec: replaced, ...kept } = await containers();
        expect({ ...kept, exec: running['exec'] }).toEqual(running);
        expect(replaced).not.toBe(running['exec']);
      },
      BUILT_WITHIN_MS,
    );

    it(
      'loses no call while the gateway and every service behind it are replaced',
      async () => {
        const { id } = await api.runningAgent();
        for (const service of SEAMLESS) await stack().rebuild(service, 'LABEL release=next');
        const traffic = new Traffic(api, id);
        await stack().nx('deploy', 'infra');
        const outcomes = await traffic.end();
        for (const service of SEAMLESS)
          expect(await stack().imageOf(service)).toBe(await stack().builtImageOf(service));
        expect(outcomes.filter((outcome) => outcome !== 'ok')).toEqual([]);
        expect(outcomes.length).toBeGreaterThan(100);
      },
      DEPLOYED_WITHIN_MS,
    );

    it(
      'waits for commands, chats and calls of models that take longer than a stop may',
      async () => {
        const agent = await api.runningAgent({ templateId: 'probe' });
        const program = await LlmAgent.of(api, stack, agent.id);
        for (const service of ['delivery', 'exec', 'llm', 'gateway'])
          await stack().rebuild(service, 'LABEL release=waits');
        const released = delay(LONG_MS);
        upstream().on('slow', { pauseAfter: { chunks: 1, pause: released }, textTokens: 10 });
        const calls = [
          new Executions(api, agent.id).run(`sleep ${String(LONG_MS / 1000)}`, { timeout: 120 }),
          program.send('slow', { stream: true }).then(({ status }) => ({ status })),
          api.chat(agent.id, `slow ${String(LONG_MS)}`),
        ];
        await stack().nx('deploy', 'infra');
        expect((await Promise.all(calls)).map(({ status }) => status)).toEqual([200, 200, 200]);
        for (const service of ['delivery', 'exec', 'llm', 'gateway'])
          expect(await stack().imageOf(service)).toBe(await stack().builtImageOf(service));
      },
      DEPLOYED_WITHIN_MS,
    );

    it(
      'restores the previous images of all services when one of them does not become healthy',
      async () => {
        const before = new Map<string, string>();
        for (const service of ['agents', 'exec']) before.set(service, await stack().imageOf(service));
        const { id } = await api.runningAgent();
        await stack().rebuild('agents', 'LABEL release=after');
        await stack().rebuild('exec', 'ENTRYPOINT ["false"]');
        const traffic = new Traffic(api, id);
        await expect(stack().nx('deploy', 'infra')).rejects.toThrow('exec: its container ended');
        expect((await traffic.end()).filter((outcome) => outcome !== 'ok')).toEqual([]);
        for (const [service, image] of before) expect(await stack().imageOf(service)).toBe(image);
        expect(await stack().nx('deploy', 'infra')).toContain('Every service already runs its image.');
      },
      DEPLOYED_WITHIN_MS,
    );

    it(
      'of the runtime leaves an installation in which calls succeed',
      async () => {
        const { id } = await api.runningAgent();
        const image = await stack().rebuild('runtime', 'LABEL release=next');
        await stack().nx('deploy', 'infra');
        expect(await stack().imageOf('runtime')).toBe(image);
        await stack().healthy(30_000);
        expect((await api.chat(id, 'back?')).status).toBe(200);
      },
      DEPLOYED_WITHIN_MS,
    );
  });
};

/** Chats, commands and reads, one begun every 50 ms. */
class Traffic {
  readonly #calls: Promise<string>[] = [];
  readonly #sending: Promise<void>;
  #ended = false;

  constructor(
    private readonly api: Api,
    private readonly agentId: string,
  ) {
    this.#sending = this.send();
  }

  /** Stops sending and returns the outcome of each call. */
  async end(): Promise<string[]> {
    this.#ended = true;
    await this.#sending;
    return await Promise.all(this.#calls);
  }

  private async send(): Promise<void> {
    const exec = new Executions(this.api, this.agentId);
    const kinds = [
      () => this.api.chat(this.agentId, 'still there?'),
      () => this.api.get(`/api/agents/${this.agentId}`),
      () => exec.run('echo here'),
      () => this.api.get('/api/agents'),
    ];
    for (let n = 0; !this.#ended; n++) {
      const call = kinds[n % kinds.length];
      if (call !== undefined) this.#calls.push(outcomeOf(call()));
      await delay(EVERY_MS);
    }
  }
}

const outcomeOf = async (
  call: Promise<{ readonly status: number; readonly body: unknown }>,
): Promise<string> => {
  try {
    const { status, body } = await call;
    return status === 200 ? 'ok' : `${String(status)} ${JSON.stringify(body)}`;
  } catch (error) {
    return String(error instanceof Error ? (error.cause ?? error) : error);
  }
};
