import { spawnSync } from 'node:child_process';
import type { Env } from '@berth/config';
import { programArguments } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import type { Stack } from './stack.fixture.js';

/** `berth doctor` in the environment of a running installation. */
export const describeDoctorCommand = (stack: () => Stack, env: () => Env = () => ({})): void => {
  describe('berth doctor beside a running Berth', () => {
    it('finds everything in order that this Berth runs with, and Berth itself', () => {
      const [url = ''] = stack().urls;
      const own = { BERTH_URL: url, PORT: new URL(url).port, BERTH_DATA: stack().dataDir };
      const { status, stdout } = spawnSync(
        process.execPath,
        [...programArguments('cli'), 'doctor', '--json'],
        {
          env: { ...process.env, ...env(), ...own },
          encoding: 'utf8',
        },
      );
      const { checks } = JSON.parse(stdout) as { checks: readonly { name: string; result: string }[] };
      expect(checks.filter(({ result }) => result === 'failed')).toEqual([]);
      expect(status).toBe(0);
      expect(checks).toContainEqual(expect.objectContaining({ name: 'health', result: 'ok' }));
      expect(checks).toContainEqual(expect.objectContaining({ name: 'BERTH_DATA', result: 'ok' }));
    });
  });
};
