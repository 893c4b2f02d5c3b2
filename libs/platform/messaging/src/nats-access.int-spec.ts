import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { connect, createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createAccount, createOperator, createUser, type KeyPair } from '@nats-io/nkeys';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { keepingLogger } from './__fixtures__/lines.fixture.js';
import { freePort, NatsServerFixture } from './__fixtures__/nats-server.fixture.js';
import type { NatsCredentials } from './nats-address.js';
import { NatsLink, UnfitBroker } from './index.js';

const { log } = keepingLogger();
const CERTIFICATES = join(import.meta.dirname, '__fixtures__/certificates');
let folder: string;
let nats: NatsServerFixture | undefined;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'berth-access-'));
});

afterEach(async () => {
  await nats?.stop();
  nats = undefined;
  rmSync(folder, { recursive: true, force: true });
});

const file = (name: string, content: string): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

/** Opens a link and makes a round trip on it. Rejects if the broker does not accept the link. */
const roundTrip = async (url: string, credentials?: NatsCredentials): Promise<void> => {
  const link = await NatsLink.open({ url, credentials, name: 'test', openWithinMs: 2_000, log });
  await link.connection.flush();
  await link.close();
};

const base64url = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A JWT like those that `nsc` creates. */
const jwt = (signer: KeyPair, subject: KeyPair, claims: object): string => {
  const body = `${base64url({ typ: 'JWT', alg: 'ed25519-nkey' })}.${base64url({
    jti: crypto.randomUUID(),
    iat: Math.floor(Date.now() / 1_000),
    iss: signer.getPublicKey(),
    sub: subject.getPublicKey(),
    nats: { version: 2, ...claims },
  })}`;
  return `${body}.${Buffer.from(signer.sign(Buffer.from(body))).toString('base64url')}`;
};

const certificate = (name: string): string => join(CERTIFICATES, `${name}.pem`);

/** Listens on a port that leads to the broker; returns it and what was sent on each connection. */
const overheard = async (to: NatsServerFixture) => {
  const connections: Buffer[][] = [];
  const server = createServer((near) => {
    const sent: Buffer[] = [];
    connections.push(sent);
    const far = connect(to.port, '127.0.0.1');
    near.on('data', (bytes: Buffer) => sent.push(bytes)).on('error', () => far.destroy());
    far.on('error', () => near.destroy());
    near.pipe(far).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => void server.close());
  return { port: (server.address() as AddressInfo).port, connections };
};

const seedOf = (pair: KeyPair): string => Buffer.from(pair.getSeed()).toString();

describe('a link', () => {
  it('uses the credentials of one address for all servers in the list', async () => {
    nats = await NatsServerFixture.configured('authorization { user: u, password: "p@ss" }');
    const dead = await freePort();
    await roundTrip(`nats://u:p%40ss@127.0.0.1:${dead}, 127.0.0.1:${nats.port}`);
    await roundTrip(`nats://127.0.0.1:${dead},nats://u:p%40ss@127.0.0.1:${nats.port}`);
  });

  it('connects with the seed of an nkey', async () => {
    const user = createUser();
    nats = await NatsServerFixture.configured(`authorization { users: [{ nkey: ${user.getPublicKey()} }] }`);
    await roundTrip(nats.url, { nkey: file('user.nk', `${seedOf(user)}\n`) });
  });

  it('connects with a .creds file', async () => {
    const [operator, account, user] = [createOperator(), createAccount(), createUser()];
    const limits = {
      subs: -1,
      data: -1,
      payload: -1,
      imports: -1,
      exports: -1,
      wildcards: true,
      conn: -1,
      leaf: -1,
    };
    nats = await NatsServerFixture.configured(
      [
        `operator: ${jwt(operator, operator, { type: 'operator' })}`,
        'resolver: MEMORY',
        `resolver_preload { ${account.getPublicKey()}: ${jwt(operator, account, { type: 'account', limits })} }`,
      ].join('\n'),
    );
    const token = jwt(account, user, { type: 'user', subs: -1, data: -1, payload: -1 });
    const creds = file(
      'user.creds',
      `-----BEGIN NATS USER JWT-----\n${token}\n------END NATS USER JWT------\n\n` +
        `-----BEGIN USER NKEY SEED-----\n${seedOf(user)}\n------END USER NKEY SEED------\n`,
    );
    await roundTrip(nats.url, { creds });
  });

  it('connects with a client certificate, over TLS', async () => {
    const pem = certificate;
    const tls = { cert_file: pem('server'), key_file: pem('server-key'), ca_file: pem('ca'), verify: true };
    nats = await NatsServerFixture.configured(`tls ${JSON.stringify(tls)}`);
    const credentials = { ca: pem('ca'), cert: pem('client'), key: pem('client-key') };
    await roundTrip(`tls://127.0.0.1:${nats.port}`, credentials);
    await expect(roundTrip(`tls://127.0.0.1:${nats.port}`, { ca: pem('ca') })).rejects.toThrow();
  });

  it('over TLS is the only connection, and begins with the handshake even where a broker would not insist', async () => {
    nats = await NatsServerFixture.configured(
      [
        'authorization { user: u, password: secret }',
        `tls { cert_file: "${certificate('server')}", key_file: "${certificate('server-key')}" }`,
        'allow_non_tls: true',
        `cluster { name: one, listen: "127.0.0.1:${await freePort()}" }`,
      ].join('\n'),
    );
    const { port, connections } = await overheard(nats);
    await roundTrip(`tls://u:secret@127.0.0.1:${port}`, { ca: certificate('ca') });
    expect(connections).toHaveLength(1);
    // The type of a record that belongs to a handshake.
    expect(connections[0]?.[0]?.[0]).toBe(0x16);
    expect(Buffer.concat(connections.flat()).includes('secret')).toBe(false);
  });

  it('over TLS tells a broker that has none nothing at all', async () => {
    nats = await NatsServerFixture.configured('authorization { user: u, password: secret }');
    const { port, connections } = await overheard(nats);
    await expect(roundTrip(`tls://u:secret@127.0.0.1:${port}`)).rejects.toThrow(/does not respond/);
    expect(connections.length).toBeGreaterThan(0);
    expect(connections.flat()).toEqual([]);
  });

  it('fails immediately when its credentials are rejected', async () => {
    nats = await NatsServerFixture.configured('authorization { user: u, password: p }');
    const begun = Date.now();
    await expect(roundTrip(`nats://u:wrong@127.0.0.1:${nats.port}`)).rejects.toThrow(UnfitBroker);
    await expect(roundTrip(nats.url)).rejects.toThrow(/refuses the credentials/);
    expect(Date.now() - begun).toBeLessThan(4_000);
  });
});
