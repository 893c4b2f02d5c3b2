import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startEmbedded, type EmbeddedInfrastructure } from '@berth/embedded';
import { connectEventStore, type NewEvent } from '@berth/event-store';
import { newId } from '@berth/kernel';
import { createLogger } from '@berth/telemetry';
import { provideCluster } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { Program, readKey, temporaryFolder, TEST_TEMPLATES, type Stack } from './stack.fixture.js';

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
  const elsewhere = temporaryFolder();
  let parts: EmbeddedInfrastructure | undefined;
  let program: Program | undefined;
  let stack: Stack;
  const api = new Api(() => stack);

  /** A long log, and tables that have read none of it. */
  beforeAll(async () => {
    parts = await startEmbedded({
      dataDir: elsewhere.path,
      natsUrl: 'nats://unused',
      databaseUrl: 'postgres://unused',
      log,
    });
    const store = connectEventStore({ url: parts.eventStoreUrl, log });
    for (let agent = 0; agent < agents; agent++)
      await store.append(`agent-${newId('agt')}`, pastLife(), 'no_stream');
    await store.close();
  });

  afterAll(async () => {
    await program?.end('SIGTERM');
    await parts?.stop();
    folder.remove();
    elsewhere.remove();
  });

  describe(`Berth on a log of ${String(agents * EVENTS_PER_AGENT)} events that its tables have not read`, () => {
    it('reports that it is ready only when a new agent can be created and read immediately', async () => {
      await provideCluster(folder.path);
      program = Program.start('standalone', {
        PORT: '0',
        BERTH_DATA: folder.path,
        BERTH_TEMPLATES_DIR: TEST_TEMPLATES,
        EVENTSTORE_URL: parts?.eventStoreUrl,
      });
      const [, url = ''] = await program.untilPrinted(/Berth is ready at (http:\/\/\S+)/, 150_000);
      stack = { urls: [url], key: readKey(folder.path), dataDir: folder.path, stop: async () => undefined };
      const created = await api.post<{ id: string }>('/api/agents', { name: 'first', templateId: 'echo' });
      expect(created.status).toBe(201);
      expect((await api.get(`/api/agents/${created.body.id}`)).status).toBe(200);
      expect((await api.get('/api/agents')).body).toMatchObject({ items: [{ id: created.body.id }] });
    });
  });
};
