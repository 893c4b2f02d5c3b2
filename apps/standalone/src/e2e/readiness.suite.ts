import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { connectEventStore, type NewEvent } from '@berth/event-store';
import { newId } from '@berth/kernel';
import { createLogger } from '@berth/telemetry';
import { startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

const GOLDEN = fileURLToPath(new URL('../../../agents/src/agent/__events__', import.meta.url));
const EVENTS_PER_AGENT = 1_000;

const log = createLogger({ service: 'readiness', level: 'warn' });
const event = (type: string, data: NewEvent['data']): NewEvent => ({
  id: randomUUID(),
  type,
  data,
  metadata: {
    correlationId: 'req_1',
    causationId: 'cmd_1',
    accountId: 'acc_01jd4p2q8hf3ar0a1s6v9wz2xe',
    actor: { kind: 'system', id: 'test' },
  },
});

const golden = (type: string): NewEvent =>
  event(
    type,
    (JSON.parse(readFileSync(join(GOLDEN, `${type}.json`), 'utf8')) as { data: NewEvent['data'] }).data,
  );

/** The history of an old agent: created, started a thousand times, deleted. */
const pastLife = (): readonly NewEvent[] => [
  golden('AgentCreated'),
  ...Array.from({ length: EVENTS_PER_AGENT - 2 }, () => golden('AgentStarting')),
  golden('AgentDeleted'),
];

/** Starts Berth on a log with the histories of so many agents. */
export const describeReadiness = (agents: number): void => {
  const folder = temporaryFolder();
  let infra: TestInfra;
  let stack: StandaloneStack | undefined;

  /** A long log, and tables that have read none of it. */
  beforeAll(async () => {
    infra = await startTestInfra({ parts: ['eventStore'] });
    const store = connectEventStore({ url: infra.eventStoreUrl, log });
    for (let agent = 0; agent < agents; agent++)
      await store.append(`agent-${newId('agt')}`, pastLife(), 'no_stream');
    await store.close();
  });

  afterAll(async () => {
    await stack?.stop();
    await infra.stop();
    folder.remove();
  });

  describe(`Berth on a log of ${String(agents * EVENTS_PER_AGENT)} events that its tables have not read`, () => {
    it('reports that it is ready only when a new agent can be created and read immediately', async () => {
      const started = await startStandaloneStack(folder.path, { EVENTSTORE_URL: infra.eventStoreUrl });
      stack = started;
      const api = new Api(() => started);
      const created = await api.post<{ id: string }>('/api/agents', { name: 'first', templateId: 'echo' });
      expect(created.status).toBe(201);
      expect((await api.get(`/api/agents/${created.body.id}`)).status).toBe(200);
      expect((await api.get('/api/agents')).body).toMatchObject({ items: [{ id: created.body.id }] });
    });
  });
};
