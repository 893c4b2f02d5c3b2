import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Api } from './api.fixture.js';
import { Files } from './files.fixture.js';
import { commandsBelow, readPage } from './page-commands.fixture.js';
import { SystemPostgres } from './system-postgres.fixture.js';
import { startStandaloneStack, temporaryFolder, type StandaloneStack } from './stack.fixture.js';
import { Webhook } from './webhooks.fixture.js';

/* A backup and its restore, by the commands of docs/operations.md. */

const exec = promisify(execFile);
const folder = temporaryFolder();
const [before, after, backup] = ['before', 'after', 'backup'].map((name) => join(folder.path, name)) as [
  string,
  string,
  string,
];
/** Part of the URLs of webhooks. */
const origin = { BERTH_PUBLIC_URL: 'http://berth.example' };
const api = new Api(() => stack);
let postgres: SystemPostgres;
let stack: StandaloneStack;

beforeAll(async () => {
  postgres = await SystemPostgres.start();
  for (const path of [before, after, backup]) mkdirSync(path, { mode: 0o700 });
  stack = await startStandaloneStack(before, { ...origin, DATABASE_URL: await postgres.create('before') });
}, 120_000);

afterAll(async () => {
  await stack.stop();
  await postgres.stop();
  folder.remove();
});

/** The commands below that heading of the section about backups, one by one. */
const commandsOf = (heading: 'Back up' | 'Restore'): readonly string[] => {
  const [, section = ''] = /^## Backup\n([\s\S]*?)^## /m.exec(readPage('operations.md')) ?? [];
  const script = commandsBelow(section.replaceAll(/^### /gm, '## '), heading, {});
  return script.replaceAll('\\\n', '').trim().split('\n');
};

const run = (command: string, dataDir: string, databaseUrl: string): Promise<unknown> =>
  exec('bash', ['-c', command], {
    env: { PATH: process.env['PATH'], BACKUP: backup, BERTH_DATA: dataDir, DATABASE_URL: databaseUrl },
  });

it('a backup by the documented commands, taken while Berth runs, restores everything that the log had then', async () => {
  const hook = await Webhook.ofProbe(() => stack, api, {
    env: [{ key: 'SECRET', value: 's3', isSecret: true }],
  });
  const { agentId } = hook;
  const files = new Files(() => stack, agentId);
  expect((await files.write('kept.txt', 'kept')).status).toBe(200);
  const executed = await api.post<{ id: string }>(`/api/agents/${agentId}/exec`, {
    command: 'echo "$SECRET"',
  });
  expect(executed.status).toBe(200);
  expect((await api.call('PUT', '/api/v1/end-users/ada', { body: { displayName: 'Ada' } })).status).toBe(201);
  const minted = await api.post<{ key: string }>('/api/v1/keys', { name: 'second', scopes: ['read'] });
  await hook.ended(await hook.accepted('hello'));
  await api.post(`/api/agents/${agentId}/sleep`);
  const create = { name: 'once', templateId: 'blank' };
  const idempotent = { headers: { 'idempotency-key': 'k' } };
  const created = await api.post<{ id: string }>('/api/agents', create, idempotent);
  await api.inState(created.body.id, 'running');

  /** What the API shows. Times of the agents' last changes differ after a start. */
  const shown = async (): Promise<readonly unknown[]> => {
    const paths = [
      ...[
        `/api/agents/${agentId}/env`,
        `/api/webhooks/${agentId}/token`,
        `/api/webhooks/${agentId}/deliveries`,
      ],
      ...['/api/v1/end-users/ada', '/api/v1/keys', '/api/v1/account', `/api/agents/${agentId}/deployments`],
    ];
    const bodies = await Promise.all(paths.map(async (path) => (await api.get(path)).body));
    const agents = (await api.get<{ items: { id: string; name: string }[] }>('/api/agents')).body.items;
    return [...bodies, agents.map(({ id, name }) => ({ id, name }))];
  };
  const expected = await shown();

  const [log = '', ...rest] = commandsOf('Back up');
  await run(log, before, postgres.urlOf('before'));
  // The tables are ahead of the log.
  const later = await api.runningAgent({ templateId: 'blank' });
  expect((await api.post('/api/v1/keys', { name: 'later', scopes: ['read'] })).status).toBe(201);
  for (const command of rest) await run(command, before, postgres.urlOf('before'));
  await stack.stop();

  const url = await postgres.create('after');
  for (const command of commandsOf('Restore')) await run(command, after, url);
  // Whoever restores knows a key.
  copyFileSync(join(before, 'bootstrap-key'), join(after, 'bootstrap-key'));
  stack = await startStandaloneStack(after, { ...origin, DATABASE_URL: url });
  expect(await shown()).toEqual(expected);
  expect((await api.get('/api/v1/account', { key: minted.body.key })).status).toBe(200);
  expect((await api.get(`/api/agents/${later.id}`)).status).toBe(404);
  const replayed = await api.post<{ id: string }>('/api/agents', create, idempotent);
  expect([replayed.body.id, replayed.headers.get('idempotent-replayed')]).toEqual([created.body.id, 'true']);
  expect((await files.download('kept.txt')).bytes.toString()).toBe('kept');
  const secret = await api.post<{ stdout: string }>(`/api/agents/${agentId}/exec`, {
    command: 'echo "$SECRET"',
  });
  expect(secret.body.stdout).toBe('s3\n');
  expect(await hook.ended(await hook.accepted('after'))).toMatchObject({ status: 'delivered' });
  expect((await api.post('/api/agents', { name: later.name, templateId: 'blank' })).status).toBe(201);
  expect((await api.get('/health')).body).toMatchObject({ status: 'ok' });
}, 240_000);
