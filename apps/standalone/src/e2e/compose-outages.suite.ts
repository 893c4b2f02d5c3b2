import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import type { ComposeStack } from './compose.fixture.js';
import { Client } from './outage.fixture.js';

const DOWN_FOR_MS = 8_000;
const OUTAGE_WITHIN_MS = 120_000;

/** The infrastructure of a compose installation, and the network that it is in. */
const PARTS = [
  ['nats', 'bus'],
  ['eventstore', 'store'],
  ['postgres', 'store'],
] as const;

/** What callers see while a container of the infrastructure does not respond. */
export const describeOutages = (stack: () => ComposeStack): void => {
  const api = new Api(stack);
  const docker = (...args: readonly string[]): Promise<string> => stack().run('docker', args);

  const frozen = async (part: string): Promise<void> => {
    await stack().compose('pause', part);
    try {
      await sleep(DOWN_FOR_MS);
    } finally {
      await stack().compose('unpause', part);
    }
  };

  const cutOff = async (part: string, network: string): Promise<void> => {
    const container = await stack().containerOf(part);
    await docker('network', 'disconnect', `berth_${network}`, container);
    try {
      await sleep(DOWN_FOR_MS);
    } finally {
      await docker('network', 'connect', '--alias', part, `berth_${network}`, container);
    }
  };

  describe.each(PARTS)('the container %s', (part, network) => {
    let agentId: string;
    let before: unknown;

    beforeAll(async () => {
      agentId = (await api.runningAgent({ templateId: 'probe' })).id;
      before = (await api.chat(agentId, 'pid')).body;
    });

    it.each([
      ['frozen', () => frozen(part)],
      ['cut off', () => cutOff(part, network)],
    ] as const)(
      '%s: calls end within 5 s, and all is as before within 30 s of its return',
      async (_how, outage) => {
        const client = new Client(api, agentId);
        await client.roundsDuring(outage());
        await client.expectRecovery();
        expect((await api.chat(agentId, 'pid')).body).toEqual(before);
      },
      OUTAGE_WITHIN_MS,
    );
  });
};
