import { join } from 'node:path';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { temporaryFolder } from '../stack.fixture.js';
import { ContainerLane } from './container-lane.fixture.js';
import { described } from './host-inventory.fixture.js';
import { act, prepare } from './operations.fixture.js';
import { DEPLOY_STEPS, planOf } from './plan.fixture.js';

const ARRIVED_WITHIN_MS = 20_000;
const GONE = { timeoutMs: 40_000, intervalMs: 200 };

describe('an agent that is deleted during its deployment', () => {
  const folder = temporaryFolder();
  let lane: ContainerLane;

  beforeAll(async () => {
    lane = await ContainerLane.open(join(folder.path, 'lane'));
  });

  afterAll(async () => {
    await lane.close();
    folder.remove();
  });

  it.each(
    DEPLOY_STEPS.map((step) => [`${step.operation}: ${step.phase} nerdctl ${step.call}`, step] as const),
  )('(%s) is gone at once, and leaves nothing on the host', async (name, step) => {
    const plan = { ...planOf(1), ...step, seed: DEPLOY_STEPS.indexOf(step) + 1_000 };
    const subject = await prepare(lane, plan);
    const path = `/api/agents/${subject.id ?? ''}`;
    lane.nerdctl.arm(plan);
    expect((await act(lane, plan, subject)).status).toBe(202);
    expect([name, await lane.nerdctl.arrival(AbortSignal.timeout(ARRIVED_WITHIN_MS))]).toEqual([
      name,
      expect.any(Number),
    ]);
    expect((await lane.api.call('DELETE', path)).status).toBe(204);
    expect((await lane.api.get(path)).status).toBe(404);
    lane.nerdctl.openGate();
    await eventually(() => expect(described(lane.inventory)).toEqual([]), GONE);
    expect((await lane.api.get(path)).status).toBe(404);
    lane.nerdctl.disarm();
  });
});
