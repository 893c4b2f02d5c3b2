import { getEventListeners } from 'node:events';
import { Supervisor } from '@berth/supervision';
import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { expect, it } from 'vitest';
import type { AgentLifecycle } from '../agent/agent-lifecycle.js';
import type { CreationAttempts } from '../agent/creation-attempts.js';
import type { AgentsConfig } from '../config.js';
import type { HostDirectory } from '../host/host-directory.js';
import type { Placement } from '../host/placement.js';
import { AgentReconciler } from './agent-reconciler.js';
import type { AgentTimeouts } from './agent-timeouts.js';
import { DueAgentsQuery } from './due-agents.query.js';

it('the reconciler retains no listeners of earlier ticks, even while its queries fail', async () => {
  let ticks = 0;
  const database = {
    query: () => {
      ticks++;
      return Promise.reject(new Error('The tables are unavailable.'));
    },
  };
  const none = (): Promise<string[]> => Promise.resolve([]);
  const hosts = { removed: none } as unknown as HostDirectory;
  const placement = { overdue: () => Promise.resolve([]) } as unknown as Placement;
  const config = { warmSleepSeconds: 900 } as AgentsConfig;
  const due = new DueAgentsQuery(database, hosts, placement, config);
  const unused = {} as AgentTimeouts & AgentLifecycle & CreationAttempts;
  const log = createLogger({ service: 'test', level: 'silent' });
  const reconciler = new AgentReconciler(due, unused, unused, unused, log);
  const supervisor = new Supervisor('test', log);
  let ending = new AbortController().signal;
  supervisor.start('reconciler', (signal) => {
    ending = signal;
    return reconciler.run(signal);
  });
  const queriesOfATick = 4;
  await eventually(() => ticks > 3 * queriesOfATick, { timeoutMs: 10_000 });
  expect(getEventListeners(ending, 'abort').length).toBeLessThanOrEqual(1);
  await supervisor.stop();
});
