import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import type { ComposeStack } from './compose.fixture.js';

const NAME = 'second';
const JOINED_WITHIN_MS = 60_000;

/** Hosts of a compose installation, by the command line in a container. */
export const describeHosts = (stack: () => ComposeStack): void => {
  const berth = (...args: readonly string[]): Promise<string> =>
    stack().compose('run', '--rm', '--no-TTY', 'berth', ...args);

  const stateOf = async (id: string): Promise<string | undefined> => {
    const hosts = JSON.parse(await berth('hosts', 'list', '--json')) as { id: string; state: string }[];
    return hosts.find((host) => host.id === id)?.state;
  };

  describe('berth hosts in a container', () => {
    it('adds a host, which joins with what was printed, and removes it again', async () => {
      const printed = await berth('hosts', 'add', NAME);
      const id = /^BERTH_HOST_ID=(hst_\S+)$/m.exec(printed)?.[1] ?? '';
      const file = join(stack().clone, 'second.env');
      const more = {
        BERTH_RUNTIME_DATA: '/var/lib/berth/runtime',
        BERTH_AGENT_VOLUMES: '/var/lib/berth/agents',
        BERTH_DATA_HOST: '0.0.0.0',
        BERTH_DATA_PORT: '7080',
        BERTH_DATA_URL: `http://${NAME}:7080`,
      };
      writeFileSync(
        file,
        [printed, ...Object.entries(more).map(([name, value]) => `${name}=${value}\n`)].join(''),
      );
      const options = ['--detach', '--name', NAME, '--network', 'berth_bus', '--env-file', file];
      await stack().run('docker', ['run', ...options, '--user', 'root', 'berth/runtime:0.1.0', 'runtime']);
      try {
        await eventually(async () => expect(await stateOf(id)).toBe('ready'), {
          timeoutMs: JOINED_WITHIN_MS,
          intervalMs: 500,
        });
        await berth('hosts', 'remove', id);
        expect(await stateOf(id)).toBeUndefined();
      } finally {
        await stack().run('docker', ['rm', '--force', '--volumes', NAME]);
      }
    });

    it('adds none whose name is invalid', async () => {
      await expect(berth('hosts', 'add', 'no/name')).rejects.toThrow('A name has 1 to 64 letters');
    });
  });
};
