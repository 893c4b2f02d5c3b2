import { getEventListeners } from 'node:events';
import { createLogger } from '@berth/telemetry';
import { eventually } from '@berth/testing';
import { expect, it } from 'vitest';
import { AgentReconciler, type ReconcilerParts } from './agent-reconciler.js';

it('timers keep nothing of the ticks that are over', async () => {
  let ticks = 0;
  const database = {
    query: () => {
      ticks++;
      return Promise.reject(new Error('The tables are away.'));
    },
  };
  const parts = {
    database,
    log: createLogger({ service: 'test', level: 'silent' }),
    warmSleepSeconds: 900,
    hosts: { lost: () => Promise.resolve([]) },
    placement: { overdue: () => Promise.resolve([]) },
  } as unknown as ReconcilerParts;
  const ending = new AbortController();
  const running = new AgentReconciler(parts).run(ending.signal);
  const questionsOfATick = 3;
  await eventually(() => ticks > 3 * questionsOfATick, { timeoutMs: 10_000 });
  expect(getEventListeners(ending.signal, 'abort').length).toBeLessThanOrEqual(1);
  ending.abort();
  await running;
});
