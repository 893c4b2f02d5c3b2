import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { guestEnv } from '@berth/guest-protocol';
import { newId } from '@berth/kernel';
import { requestContext, type RequestCaller } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostFixture } from '../__fixtures__/host.fixture.js';
import { agentFolders } from '../agent/agent-folders.js';
import { listPids, readStartVariable } from '../driver/process-table.js';

/** Longer than the time within which a guest must begin the work of a request. */
const SUSPENDED_MS = 4_500;

describe('a guest that was suspended', () => {
  let host: HostFixture;
  let agentId: string;

  beforeEach(async () => {
    host = await HostFixture.open();
    const recipe = HostFixture.recipe({ templateId: 'shell' });
    agentId = recipe.agentId;
    await host.agents.start(recipe);
  });
  afterEach(() => host.destroy());

  const guestPid = async (): Promise<number> => {
    for (const pid of await listPids()) {
      if ((await readStartVariable(pid, guestEnv.mark))?.includes(agentId) !== true) continue;
      const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      if (command.includes('guest')) return pid;
    }
    throw new Error('The agent has no guest process.');
  };

  const execute = (command: string, caller: RequestCaller): Promise<unknown> =>
    requestContext.run({ requestId: 'req_1', caller }, () =>
      host.executions
        .execute({
          agentId,
          epoch: 1,
          executionId: newId('exe'),
          command,
          cwd: null,
          env: {},
          timeoutMs: 60_000,
          wait: true,
        })
        .catch((error: unknown) => error),
    );

  const suspendGuest = async (pid: number, meanwhile: () => void): Promise<void> => {
    process.kill(pid, 'SIGSTOP');
    meanwhile();
    await new Promise((resolve) => setTimeout(resolve, SUSPENDED_MS));
    process.kill(pid, 'SIGCONT');
  };

  it('runs a command once if its caller still waits, and never if its caller gave up in the meantime', async () => {
    const waiting = { gaveUp: false, waitedMs: 0 };
    const leaving = { gaveUp: false, waitedMs: 0 };
    const outcomes: Promise<unknown>[] = [];
    await suspendGuest(await guestPid(), () => {
      outcomes.push(execute('echo wanted >> marks', waiting), execute('echo unwanted >> marks', leaving));
      leaving.gaveUp = true;
    });
    const [wanted, unwanted] = await Promise.all(outcomes);
    expect(wanted).toMatchObject({ status: 'completed', exitCode: 0 });
    expect(unwanted).toMatchObject({ kind: 'unavailable', code: 'guest_command_unavailable' });
    const marks = join(agentFolders(host.dataDir, agentId).volume, 'marks');
    await eventually(() => existsSync(marks));
    expect(await readFile(marks, 'utf8')).toBe('wanted\n');
  });
});
