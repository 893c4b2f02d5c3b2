import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readEnv, type Env } from './index.js';

const folder = mkdtempSync(join(tmpdir(), 'berth-config-'));
const SEED = `SU${'A'.repeat(56)}`;

afterAll(() => rmSync(folder, { recursive: true, force: true }));

const file = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

const read = (env: Env) => {
  const reader = readEnv({ NATS_URL: 'nats://h1,h2', ...env });
  return reader.done(reader.brokerEnv());
};

const creds = file(
  'user.creds',
  `-----BEGIN NATS USER JWT-----\nx\n-----BEGIN USER NKEY SEED-----\n${SEED}\n`,
);
const nkey = file('user.nk', `${SEED}\n`);
const other = file('other', 'hunter2');

describe('the credentials for the broker', () => {
  it('are read from files in addition to the URL', () => {
    expect(read({ NATS_CREDS: creds }).natsCredentials).toEqual({ creds });
    expect(read({ NATS_NKEY: nkey, NATS_CA: other }).natsCredentials).toEqual({ nkey, ca: other });
    expect(read({ NATS_CERT: other, NATS_KEY: other }).natsCredentials).toEqual({ cert: other, key: other });
    expect(read({}).natsCredentials).toEqual({});
  });

  it.each([
    [{ NATS_CREDS: join(folder, 'gone') }, /NATS_CREDS must name a file that can be read/],
    [{ NATS_CREDS: folder }, /NATS_CREDS must name a file that can be read/],
    [{ NATS_CREDS: other }, /NATS_CREDS must name a \.creds file/],
    [{ NATS_NKEY: other }, /NATS_NKEY must name a file with the seed/],
    [{ NATS_CERT: other }, /NATS_CERT and NATS_KEY must be set together/],
    [{ NATS_KEY: other }, /NATS_CERT and NATS_KEY must be set together/],
    [{ NATS_CREDS: creds, NATS_NKEY: nkey }, /are mutually exclusive/],
    [{ NATS_CREDS: creds, NATS_URL: 'nats://h,u:p@h2' }, /are mutually exclusive/],
  ])('refuses %j when it reads the configuration', (env, complaint) => {
    expect(() => read(env)).toThrow(complaint);
    expect(() => read(env)).not.toThrow(/hunter2|SUA/);
  });
});
