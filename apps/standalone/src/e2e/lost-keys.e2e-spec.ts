import { execFile } from 'node:child_process';
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connectEventStore } from '@berth/event-store';
import { createLogger } from '@berth/telemetry';
import { programArguments, provideCluster, startTestInfra, type TestInfra } from '@berth/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Program, readKey, temporaryFolder, TEST_TEMPLATES } from './stack.fixture.js';

const exec = promisify(execFile);

const log = createLogger({ service: 'test', level: 'warn' });
const first = temporaryFolder();
const second = temporaryFolder();
const elsewhere = temporaryFolder();
let infra: TestInfra;
let program: Program | undefined;
let url = '';

const startOn = async (dataDir: string, more: Record<string, string> = {}): Promise<void> => {
  await provideCluster(dataDir);
  program = Program.start('standalone', {
    PORT: '0',
    BERTH_DATA: dataDir,
    BERTH_TEMPLATES_DIR: TEST_TEMPLATES,
    EVENTSTORE_URL: infra.eventStoreUrl,
    ...more,
  });
  [, url = ''] = await program.untilPrinted(/Berth is ready at (http:\/\/\S+)/);
};

const statusWith = async (key: string, path: string): Promise<number> =>
  (await fetch(`${url}${path}`, { headers: { authorization: `Bearer ${key}` } })).status;

/** The actor that minted the key with this name, according to the event log. */
const minterOf = async (key: string, name: string): Promise<unknown> => {
  const response = await fetch(`${url}/api/v1/keys`, { headers: { authorization: `Bearer ${key}` } });
  const { items } = (await response.json()) as { items: readonly { id: string; name: string }[] };
  const store = connectEventStore({ url: infra.eventStoreUrl, log });
  const [minted] = await store.read(`key-${items.find((item) => item.name === name)?.id ?? ''}`);
  await store.close();
  return minted?.metadata.actor;
};

/** Starts an installation, then one with a new data folder on the same log: the vault with the keys is lost. */
beforeAll(async () => {
  infra = await startTestInfra({ parts: ['eventStore'] });
  await startOn(first.path);
  expect(program?.printed).not.toContain('keys recover');
  await program?.end('SIGTERM');
  // The socket is in the data folder even if the first key's file is not.
  await startOn(second.path, { BERTH_BOOTSTRAP_KEY_FILE: join(elsewhere.path, 'keys/first-key') });
});

afterAll(async () => {
  await program?.end('SIGTERM');
  await infra.stop();
  for (const folder of [first, second, elsewhere]) folder.remove();
});

describe('an installation whose keys are all lost', () => {
  it('logs at the start that no key is left and how to mint one', async () => {
    expect(await statusWith(readKey(first.path), '/api/agents')).toBe(401);
    await program?.untilPrinted(/No key with the scope operate works.*npm run berth -- keys recover/);
  });

  it('mints a key with every scope for a user who can enter the data folder, and records who minted it', async () => {
    expect(statSync(join(second.path, 'accounts.sock')).mode & 0o777).toBe(0o600);
    const { stdout } = await exec(process.execPath, [...programArguments('cli'), 'keys', 'recover'], {
      env: { BERTH_DATA: second.path },
    });
    const key = stdout.trim();
    expect(await statusWith(key, '/api/v1/keys')).toBe(200);
    expect(await statusWith(key, '/api/v1/operations/projections')).toBe(200);
    await program?.untilPrinted(/a key was recovered on this host/);
    expect(program?.printed).not.toContain(key);
    expect(await minterOf(key, 'recovered')).toEqual({ kind: 'system', id: 'host-operator' });
  });

  it('makes the command line name the socket when no Berth runs there', async () => {
    const nowhere = exec(process.execPath, [...programArguments('cli'), 'keys', 'recover'], {
      env: { BERTH_DATA: elsewhere.path },
    });
    await expect(nowhere).rejects.toMatchObject({
      code: 3,
      stderr: expect.stringContaining(`No running Berth at ${join(elsewhere.path, 'accounts.sock')}`),
    });
  });
});
