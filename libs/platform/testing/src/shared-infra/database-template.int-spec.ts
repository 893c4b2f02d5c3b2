import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { startTestInfra } from '../test-infra.js';
import { provideCluster } from './database-template.js';

let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'berth-test-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

it('a server that a test owns starts on a copied cluster', async () => {
  const infra = await startTestInfra({ parts: ['postgres'], own: ['postgres'] });
  expect(infra.part('postgres').pid).toBeGreaterThan(0);
  await infra.stop();
});

it('a data folder gets a cluster with its password, and no password of the broker', async () => {
  await provideCluster(dataDir);
  const file = join(dataDir, 'embedded', 'secrets.json');
  expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual({ postgresPassword: expect.any(String) as string });
  expect([file, join(dataDir, 'postgres')].map((path) => statSync(path).mode & 0o777)).toEqual([
    0o600, 0o700,
  ]);
});

it('a data folder keeps the cluster that it has', async () => {
  await provideCluster(dataDir);
  const file = join(dataDir, 'postgres', 'data', 'PG_VERSION');
  writeFileSync(file, 'another');
  await provideCluster(dataDir);
  expect(readFileSync(file, 'utf8')).toBe('another');
});
