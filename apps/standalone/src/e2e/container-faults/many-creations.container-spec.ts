import { join } from 'node:path';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
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

  const create = async (index: number): Promise<string> => {
    const name = `agent ${String(index)}`;
    const created = await lane.api.post('/api/agents', { name, templateId: 'blank', idleTtlSeconds: 0 });
    expect(created).toMatchObject({ status: 201, body: { state: 'deploying' } });
    return String(created.body['id']);
  };

  it('all run, each in its own container, and leave nothing when they are deleted at once', async () => {
    const { api } = lane;
    const ids = await Promise.all(Array.from({ length: AGENTS }, (_, index) => create(index)));
    await eventually(async () => {
      const states = await Promise.all(ids.map((id) => api.get(`/api/agents/${id}`)));
      const notRunning = states.filter(({ body }) => body['state'] !== 'running');
      expect(notRunning.map(({ body }) => [body['state'], body['lastError']])).toEqual([]);
    }, RUN_WITHIN);
    expect(lane.inventory['containers']).toHaveLength(AGENTS);
    for (const id of [ids[0] ?? '', ids.at(-1) ?? ''])
      expect((await new Executions(api, id).run('echo works')).body.stdout).toBe('works\n');
    const deleted = await Promise.all(ids.map((id) => api.call('DELETE', `/api/agents/${id}`)));
    expect(new Set(deleted.map(({ status }) => status))).toEqual(new Set([204]));
    await eventually(() => expect(described(lane.inventory)).toEqual([]), GONE_WITHIN);
  }, 1_500_000);
});
