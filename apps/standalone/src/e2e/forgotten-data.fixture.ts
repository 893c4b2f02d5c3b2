import { join } from 'node:path';
import { openDatabase, type Database } from '@berth/persistence';
import { createLogger } from '@berth/telemetry';
import { eventually, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, expect } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import { filesWith, tablesWith, TraceCollector } from './canary-search.fixture.js';
import { Files } from './files.fixture.js';
import { AgentSchedules, fromNow } from './schedules.fixture.js';
import { temporaryFolder, type Stack } from './stack.fixture.js';

/*
 * Personal data of an end user is in plaintext only in tables and volumes. After the deletion of the end user it is
 * nowhere.
 */

/** The value of every personal field of an end user and of its agent; in upper case, because some are variable names. */
export const CANARY = `CANARY${crypto.randomUUID().slice(0, 8).toUpperCase()}`;
export const PERSON = `/api/v1/end-users/${CANARY}`;
export const VAULTS = ['end_users_vault.personal_keys', 'agents.personal_key_vault'];
export const LONG_TIMEOUT = { timeoutMs: 30_000 };

/** Starts a stack; the second member returns what its programs have printed. */
export type StartStack = (
  folder: string,
  env: Readonly<Record<string, string>>,
) => Promise<readonly [stack: Stack, printed: () => string]>;

export const api = new Api(() => stack);
export let folder: ReturnType<typeof temporaryFolder>;
let infra: TestInfra;
export let stack: Stack;
let printed: () => string;
export let database: Database;
let traces: TraceCollector;

/** Uses a stack for the tests of a `describe`. */
export const useStack = (startStack: StartStack): void => {
  beforeAll(() => start(startStack));
  afterAll(stop);
};

const start = async (startStack: StartStack): Promise<void> => {
  folder = temporaryFolder();
  infra = await startTestInfra({ parts: ['postgres'] });
  traces = await TraceCollector.start();
  [stack, printed] = await startStack(folder.path, {
    DATABASE_URL: infra.databaseUrl,
    OTEL_EXPORTER_OTLP_ENDPOINT: traces.url,
    BERTH_LOG_LEVEL: 'debug',
  });
  const log = createLogger({ service: 'test', level: 'silent' });
  const options = { url: infra.databaseUrl, schema: 'public', migrations: [], applicationName: 'test', log };
  database = await openDatabase(options);
};

const stop = async (): Promise<void> => {
  await stack.stop();
  await database.close();
  await Promise.all([traces.stop(), infra.stop()]);
  folder.remove();
};

const excerpts = (where: string, text: string, searched: string): readonly string[] =>
  [...text.matchAll(new RegExp(`.{0,300}${searched}.{0,60}`, 'g'))].map(([found]) => `${where}: ${found}`);

/** Where a text, by default the canary, is in plaintext in files of the folders, output or traces. */
const places = (folders: readonly string[], searched = CANARY): readonly string[] => [
  ...folders.flatMap((name) => filesWith(join(folder.path, name), searched)),
  ...excerpts('output', printed(), searched),
  ...excerpts('traces', traces.received, searched),
];

/** Invokes the webhook with its token in the query; returns the token. */
const invokeWebhook = async (agentId: string): Promise<string> => {
  const { body } = await api.get<{ token: string; url: string }>(`/api/webhooks/${agentId}/token`);
  const { pathname, search } = new URL(body.url);
  const request = { method: 'POST', body: CANARY, headers: { 'content-type': `text/${CANARY}` } };
  expect((await fetch(`${stack.urls[0] ?? ''}${pathname}${search}`, request)).status).toBe(202);
  await eventually(async () => {
    const { items } = (await api.get<{ items: object[] }>(`${pathname}/deliveries`)).body;
    expect(items).toMatchObject([{ status: 'delivered' }]);
  }, LONG_TIMEOUT);
  return body.token;
};

export const ok = async (
  response: Promise<{ readonly status: number; readonly body: unknown }>,
): Promise<void> => {
  const { status, body } = await response;
  expect([status, body]).toEqual([expect.toSatisfy((code: number) => code < 300), body]);
};

export const createPerson = async (): Promise<string> => {
  const person = { displayName: CANARY, metadata: { [CANARY]: CANARY }, tags: [CANARY] };
  await ok(api.call('PUT', PERSON, { body: person }));
  const { id } = await api.runningAgent({
    name: CANARY,
    externalId: CANARY,
    externalUserId: CANARY,
    instructions: `Call me ${CANARY}.`,
    labels: { [CANARY]: CANARY },
    env: [{ key: `${CANARY}_ENV`, value: CANARY, isSecret: false }],
  });
  return id;
};

/** Sends personal data in every kind of request to the agent. */
const use = async (agentId: string): Promise<void> => {
  const files = new Files(() => stack, agentId);
  await ok(files.write(`${CANARY}/a.txt`, CANARY));
  await ok(files.mkdir(`${CANARY}/b`));
  await ok(files.move(`${CANARY}/a.txt`, `${CANARY}/b/${CANARY}.txt`));
  await ok(files.list(CANARY));
  expect((await files.download(`${CANARY}/b/${CANARY}.txt`)).status).toBe(200);
  await ok(files.upload(Buffer.from(CANARY), { name: `${CANARY}.txt`, message: CANARY }));
  await ok(files.delete(`${CANARY}/b`));
  expect((await files.delete(`${CANARY}/gone`)).status).toBe(404);
  const variable = `/api/agents/${agentId}/env/${CANARY}_SET`;
  await ok(api.call('PUT', variable, { body: { value: CANARY, isSecret: true } }));
  await ok(api.call('DELETE', variable));
  const variables = { [CANARY]: CANARY };
  await ok(api.post(`/api/agents/${agentId}/exec`, { command: `echo ${CANARY}; pwd`, env: variables }));
  await ok(api.post(`/api/agents/${agentId}/exec`, { command: [CANARY], cwd: CANARY, detached: true }));
  await ok(api.chat(agentId, CANARY));
  const minted = await api.post<{ token: string }>(`${PERSON}/tokens`, { scopes: ['chat', 'files'] });
  await ok(api.chat(agentId, CANARY, { key: minted.body.token }));
  expect(codeOf(await api.post('/api/agents', { name: CANARY, templateId: 'blank' }))).toBe(
    'agent_name_taken',
  );
  expect((await api.get(`/api/v1/end-users/${CANARY}-unknown`)).status).toBe(404);
  for (const transition of ['sleep', 'restart']) await ok(api.post(`/api/agents/${agentId}/${transition}`));
  expect((await api.get<{ items: unknown[] }>(`/api/agents?name=${CANARY}`)).body.items).toHaveLength(1);
};

export const livingKeys = async (): Promise<number> => {
  let keys = 0;
  for (const vault of VAULTS)
    keys += (await database.query(`SELECT 1 FROM ${vault} WHERE sealed_key IS NOT NULL`)).length;
  return keys;
};

export const audited = async (agentId: string): Promise<string> => {
  const { status, body } = await api.get(`/api/v1/audit?resource=${agentId}&limit=200`);
  expect(status).toBe(200);
  return JSON.stringify(body);
};

export const rebuild = async (name: string): Promise<void> => {
  const path = `/api/v1/operations/projections`;
  await ok(api.post(`${path}/${name}/rebuild`));
  await eventually(async () => {
    const { body } = await api.get<{ items: { name: string; rebuilding: unknown }[] }>(path);
    expect(body.items.find((one) => one.name === name)).toMatchObject({ rebuilding: null });
  }, LONG_TIMEOUT);
};

/** Schedules a prompt and waits until it is delivered; then schedules one that stays pending. */
const schedule = async (agentId: string): Promise<void> => {
  const schedules = new AgentSchedules(api, agentId);
  const entry = { id: 'reminder', nextRunAt: fromNow(1_000), prompt: CANARY };
  expect((await schedules.publish(entry)).status).toBe(200);
  await eventually(async () => expect((await schedules.only()).lastRunAt).not.toBeNull(), LONG_TIMEOUT);
  expect((await schedules.publish({ ...entry, nextRunAt: fromNow(3_600_000) })).status).toBe(200);
};

type KeyRow = { readonly end_user_id: string; readonly sealed_key: string };

/**
 * Creates an end user and its agent, uses every feature with personal data, and deletes the end user. Returns the rows
 * that the vaults had before the deletion.
 */
export const expectForgotten = async (): Promise<{
  readonly agentId: string;
  readonly keys: ReadonlyMap<string, readonly KeyRow[]>;
}> => {
  const agentId = await createPerson();
  await use(agentId);
  await schedule(agentId);
  const token = await invokeWebhook(agentId);
  expect(places(['event-store', 'nats', 'logs'])).toEqual([]);
  expect(places(['.'], token)).toEqual([]);
  expect(await tablesWith(database, token)).toEqual([]);
  // Proves that the search would find the canary.
  expect(await tablesWith(database, CANARY)).toContainEqual(
    expect.stringMatching(/^agents\.agent_list_v\d+$/),
  );
  expect(filesWith(folder.path, CANARY)).not.toEqual([]);

  await eventually(async () => expect(await audited(agentId)).toContain(`${CANARY}/gone`), LONG_TIMEOUT);

  const keys = new Map<string, readonly KeyRow[]>();
  for (const vault of VAULTS)
    keys.set(vault, await database.query<KeyRow>(`SELECT end_user_id, sealed_key FROM ${vault}`));
  expect([...keys.values()].map((rows) => rows.length)).toEqual([1, 1]);
  await ok(api.call('DELETE', PERSON));
  expect(await livingKeys()).toBe(0);
  expect((await api.get(PERSON)).status).toBe(404);
  expect(await audited(agentId)).not.toContain(CANARY);
  await eventually(async () => {
    expect(places(['.'])).toEqual([]);
    expect(await tablesWith(database, CANARY)).toEqual([]);
  }, LONG_TIMEOUT);
  return { agentId, keys };
};
