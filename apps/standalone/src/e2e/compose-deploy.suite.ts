import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import type { ComposeStack } from './compose.fixture.js';
import { Executions } from './executions.fixture.js';

const EVERY_MS = 50;
const DEPLOYED_WITHIN_MS = 300_000;
const BEHIND_PROXY = ['accounts', 'agents', 'audit', 'delivery', 'end-users', 'exec', 'files', 'gateway'];

/** Deploys of a compose installation by `tools/deploy.mjs`. */
export const describeDeploys = (stack: () => ComposeStack): void => {
  describe('a deploy', () => {
    const api = new Api(stack);

    it(
      'loses no call while the gateway and every service behind it are replaced',
      async () => {
        const { id } = await api.runningAgent();
        const images = new Map<string, string>();
        for (const service of BEHIND_PROXY)
          images.set(service, await stack().rebuild(service, 'LABEL release=next'));
        const traffic = new Traffic(api, id);
        await stack().deploy(...BEHIND_PROXY);
        const outcomes = await traffic.end();
        for (const [service, image] of images) expect(await stack().imageOf(service)).toBe(image);
        expect(outcomes.filter((outcome) => outcome !== 'ok')).toEqual([]);
        expect(outcomes.length).toBeGreaterThan(100);
      },
      DEPLOYED_WITHIN_MS,
    );

    it(
      'of the gateway waits for a call that runs longer than the time limit of a stop',
      async () => {
        const { id } = await api.runningAgent({ templateId: 'blank' });
        const image = await stack().rebuild('gateway', 'LABEL release=waits');
        const call = new Executions(api, id).run('sleep 25; echo waited');
        await stack().deploy('gateway');
        expect((await call).body).toMatchObject({ exitCode: 0, stdout: 'waited\n' });
        expect(await stack().imageOf('gateway')).toBe(image);
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
        await expect(stack().deploy('agents', 'exec')).rejects.toThrow('Command failed');
        expect((await traffic.end()).filter((outcome) => outcome !== 'ok')).toEqual([]);
        for (const [service, image] of before) expect(await stack().imageOf(service)).toBe(image);
        expect(await stack().deploy('agents', 'exec')).toContain('Every service already runs its image.');
      },
      DEPLOYED_WITHIN_MS,
    );

    it(
      'of the runtime leaves an installation in which calls succeed',
      async () => {
        const { id } = await api.runningAgent();
        const image = await stack().rebuild('runtime', 'LABEL release=next');
        await stack().deploy('runtime');
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
