import { NatsLink } from '@berth/messaging';
import { createLogger } from '@berth/telemetry';
import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';

/* The operations interface. */

const DEAD_LETTERS = '/api/v1/operations/dead-letters';
/** Two of the services that consume `evt.agents.deleted.v1`. */
const CONSUMERS = ['delivery', 'exec'];
const LONG_TIMEOUT = { timeoutMs: 30_000 };

let infra: TestInfra;
let stack: StandaloneStack;
const folder = temporaryFolder();
const api = new Api(() => stack);

beforeAll(async () => {
  infra = await startTestInfra({ parts: ['nats'] });
  stack = await startStandaloneStack(folder.path, { NATS_URL: infra.natsUrl });
});
afterAll(async () => {
  await stack.stop();
  await infra.stop();
  folder.remove();
});

const health = async (): Promise<Record<string, unknown>> => (await api.get('/health')).body;

/** Publishes an event under a subject of `agents` whose payload no consumer can parse. */
const publishMalformedEvent = async (): Promise<void> => {
  const log = createLogger({ service: 'test', level: 'silent' });
  const link = await NatsLink.open({ url: infra.natsUrl, name: 'test', log });
  link.connection.publish(link.names.subject('evt.agents.deleted.v1.acc_1.agt_1'), 'Ada Lovelace');
  await link.close();
};

const deadLetters = async (): Promise<readonly { readonly id: string; readonly service: string }[]> => {
  const { status, body } = await api.get<{ items: { id: string; service: string }[] }>(DEAD_LETTERS);
  expect(status).toBe(200);
  return body.items;
};

it('dead letters are counted by /health, listed without payload, replayed and deleted', async () => {
  await eventually(
    async () => expect(await health()).toMatchObject({ status: 'ok', deadLetters: 0 }),
    LONG_TIMEOUT,
  );
  await publishMalformedEvent();
  const items = await eventually(async () => {
    const found = await deadLetters();
    expect(found.map(({ service }) => service)).toEqual(expect.arrayContaining(CONSUMERS));
    expect(await health()).toMatchObject({ deadLetters: found.length });
    return found;
  }, LONG_TIMEOUT);
  expect(JSON.stringify(items)).not.toContain('Lovelace');
  for (const { id } of items) {
    // The replay fails in the same way, so the event remains a dead letter.
    expect((await api.post(`${DEAD_LETTERS}/${id}/replay`)).status).toBe(202);
    expect((await api.call('DELETE', `${DEAD_LETTERS}/${id}`)).status).toBe(204);
    expect((await api.call('DELETE', `${DEAD_LETTERS}/${id}`)).status).toBe(404);
    expect((await api.post(`${DEAD_LETTERS}/${id}/replay`)).status).toBe(404);
  }
  await eventually(async () => {
    // A slow consumer can add its dead letter late.
    for (const { id } of await deadLetters()) await api.call('DELETE', `${DEAD_LETTERS}/${id}`);
    expect(await health()).toMatchObject({ deadLetters: 0 });
  }, LONG_TIMEOUT);
});

it('a key with the scope manage cannot access operations', async () => {
  const minted = await api.post<{ key: string }>('/api/v1/keys', {
    name: 'manager',
    scopes: ['read', 'deploy', 'manage', 'computers'],
  });
  expect(minted.status).toBe(201);
  for (const path of ['/api/v1/operations/projections', DEAD_LETTERS]) {
    const refused = await api.get(path, { key: minted.body.key });
    expect([refused.status, refused.body]).toMatchObject([403, { detail: { requiredScope: 'operate' } }]);
    expect((await api.get(path)).status).toBe(200);
  }
});
