import { mkdtempSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { once } from 'node:events';
import { createServer, type Server, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { containerTestHost } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DriverFixture } from '../driver-contract/driver.fixture.js';
import { nerdctlDriverOn, nerdctlDriverUnderTest } from './__fixtures__/nerdctl-driver.fixture.js';

const WITHIN_MS = 5_000;

describe('while containerd does not respond', () => {
  let folder: string;
  let address: string;
  let host: DriverFixture;
  let silent: Server;
  const connections = new Set<Socket>();

  /** Lets the driver's address lead to another socket from now on. */
  const pointTo = (socket: string): void => {
    symlinkSync(socket, `${address}.next`);
    renameSync(`${address}.next`, address);
  };

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'berth-outage-'));
    address = join(folder, 'address.sock');
    pointTo(containerTestHost().address);
    silent = createServer((socket) => connections.add(socket));
    silent.listen(join(folder, 'silent.sock'));
    await once(silent, 'listening');
    host = await DriverFixture.open({
      ...nerdctlDriverUnderTest,
      create: (dataDir) => nerdctlDriverOn(dataDir, address),
    });
  });

  afterEach(async () => {
    pointTo(containerTestHost().address);
    await host.destroy();
    for (const socket of connections) socket.destroy();
    silent.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it.each(['silent', 'missing'])(
    '(%s) an agent runs on, and is frozen, thawed and measured',
    async (state) => {
      const started = await host.start();
      const { agentId } = started.box;
      pointTo(join(folder, `${state}.sock`));
      expect(await started.sh('echo runs on')).toBe('runs on');
      await host.driver.freeze(agentId);
      expect(await host.driver.isFrozen(agentId)).toBe(true);
      expect((await host.driver.stats(agentId))?.memoryBytes).toBeGreaterThan(0);
      await host.driver.thaw(agentId);
      expect(await started.sh('echo and on')).toBe('and on');
    },
  );

  it.each(['silent', 'missing'])(
    '(%s) a start is refused within 5 s, and succeeds afterwards',
    async (state) => {
      const spec = await host.spec();
      pointTo(join(folder, `${state}.sock`));
      const since = performance.now();
      await expect(host.driver.start(spec)).rejects.toMatchObject({ code: 'host_unavailable' });
      expect(performance.now() - since).toBeLessThan(WITHIN_MS);
      pointTo(containerTestHost().address);
      const started = await host.start({ agentId: spec.agentId });
      expect(await started.sh('echo started')).toBe('started');
    },
  );
});
