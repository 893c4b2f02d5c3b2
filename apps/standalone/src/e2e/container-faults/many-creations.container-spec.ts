import { join } from 'node:path';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from '../api.fixture.js';
import { Executions } from '../executions.fixture.js';
import { temporaryFolder } from '../stack.fixture.js';
import { ContainerLane } from './container-lane.fixture.js';
import { described } from './host-inventory.fixture.js';

const AGENTS = 200;
/** An agent may be `deploying` for 900 s. */
const RUN_WITHIN = { timeoutMs: 900_000, intervalMs: 2_000 };
const GONE_WITHIN = { timeoutMs: 300_000, intervalMs: 1_000 };

describe(`${String(AGENTS)} agents that are created at once on one host`, () => {
  const folder = temporaryFolder();
  let lane: ContainerLane;

  beforeAll(async () => {
    lane = await ContainerLane.open(join(folder.path, 'lane'));
  });

  afterAll(async () => {
    await lane.close();
    folder.remove();
  });

  /** Returns null if the host has no room for the agent. */
  const create = async (index: number): Promise<string | null> => {
    const name = `agent ${String(index)}`;
    const resources = { memMb: 128 };
    const created = await lane.api.post('/api/agents', { name, templateId: 'blank', resources });
    if (created.status === 503) {
      expect(codeOf(created)).toBe('no_capacity');
      return null;
    }
    expect(created).toMatchObject({ status: 201, body: { state: 'deploying' } });
    return String(created.body['id']);
  };

  it('all run for which the host has memory, and leave nothing when they are deleted at once', async () => {
    const { api } = lane;
    const created = await Promise.all(Array.from({ length: AGENTS }, (_, index) => create(index)));
    const ids = created.filter((id) => id !== null);
    expect(ids.length).toBeGreaterThan(AGENTS / 10);
    await eventually(async () => {
      const states = await Promise.all(ids.map((id) => api.get(`/api/agents/${id}`)));
      const notRunning = states.filter(({ body }) => body['state'] !== 'running');
      expect(notRunning.map(({ body }) => [body['state'], body['lastError']])).toEqual([]);
    }, RUN_WITHIN);
    expect(lane.inventory['containers']).toHaveLength(ids.length);
    for (const id of [ids[0] ?? '', ids.at(-1) ?? ''])
      expect(await new Executions(api, id).run('echo works')).toMatchObject({
        status: 200,
        body: { stdout: 'works\n' },
      });
    const deleted = await Promise.all(ids.map((id) => api.call('DELETE', `/api/agents/${id}`)));
    expect(new Set(deleted.map(({ status }) => status))).toEqual(new Set([204]));
    await eventually(() => expect(described(lane.inventory)).toEqual([]), GONE_WITHIN);
  }, 1_500_000);
});
