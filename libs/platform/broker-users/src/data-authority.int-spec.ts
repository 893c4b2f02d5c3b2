import 'reflect-metadata';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, createServer, type TLSSocket } from 'node:tls';
import { dataPortName, newId } from '@berth/kernel';
import {
  BasicConstraintsExtension,
  KeyUsageFlags,
  KeyUsagesExtension,
  X509Certificate,
} from '@peculiar/x509';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { DATA_CA_FILE, DataAuthority, type DataCertificate } from './data-authority.js';

const host = newId('hst');
let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'authority-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const modeOf = (path: string): number => statSync(path).mode & 0o777;

/** Connects over TLS to a server with that certificate; rejects if the client does not accept it. */
const dial = async ({ certificate, key }: DataCertificate, ca: string, name: string): Promise<void> => {
  const server = createServer({ cert: certificate, key }).listen(0, '127.0.0.1');
  server.on('tlsClientError', () => undefined);
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const socket: TLSSocket = connect({ host: '127.0.0.1', port, ca, servername: name });
  try {
    await once(socket, 'secureConnect');
  } finally {
    socket.destroy();
    server.close();
  }
};

describe('the authority for data ports', () => {
  it('is made once and kept, also when several hosts are added at the same time by several processes', async () => {
    const issued = await Promise.all(
      Array.from({ length: 8 }, () => new DataAuthority(folder).issue(newId('hst'))),
    );
    const later = await new DataAuthority(folder).issue(host);
    expect(new Set([...issued, later].map(({ authority }) => authority)).size).toBe(1);
    expect(new Set(issued.map(({ key }) => key)).size).toBe(8);
    expect(readFileSync(join(folder, DATA_CA_FILE), 'utf8')).toBe(later.authority);
    expect(readdirSync(folder).toSorted()).toEqual(['data-authority.pem', 'public']);
  });

  it('has a key that only its owner can read, and a certificate that everyone can', async () => {
    const { authority } = await new DataAuthority(folder).issue(host);
    expect(modeOf(join(folder, 'data-authority.pem'))).toBe(0o600);
    expect(modeOf(join(folder, DATA_CA_FILE))).toBe(0o644);
    expect(authority).not.toContain('PRIVATE');
  });

  it('issues certificates that verify under the name of their host and no other', async () => {
    const issued = await new DataAuthority(folder).issue(host);
    await dial(issued, issued.authority, dataPortName(host));
    for (const other of [dataPortName(newId('hst')), 'hosts.berth.internal', 'localhost'])
      await expect(dial(issued, issued.authority, other)).rejects.toMatchObject({
        code: 'ERR_TLS_CERT_ALTNAME_INVALID',
      });
  });

  it('is the only one whose certificates verify against its own', async () => {
    const issued = await new DataAuthority(folder).issue(host);
    const foreign = await new DataAuthority(join(folder, 'public')).issue(host);
    await expect(dial(foreign, issued.authority, dataPortName(host))).rejects.toMatchObject({
      code: expect.stringMatching(/SIGNATURE|CERT/) as string,
    });
  });

  it('issues no certificate that can sign others', async () => {
    const issued = await new DataAuthority(folder).issue(host);
    // Each of the two forbids it: OpenSSL looks at both, others at one.
    const permissionsOf = (certificate: string) => {
      const parsed = new X509Certificate(certificate);
      return {
        isAuthority: parsed.getExtension(BasicConstraintsExtension)?.ca,
        signs: ((parsed.getExtension(KeyUsagesExtension)?.usages ?? 0) & KeyUsageFlags.keyCertSign) !== 0,
      };
    };
    expect(permissionsOf(issued.certificate)).toEqual({ isAuthority: false, signs: false });
    expect(permissionsOf(issued.authority)).toEqual({ isAuthority: true, signs: true });
  });

  it.each<[string, (kept: string) => string]>([
    ['is cut off', (kept) => kept.slice(0, kept.length / 2)],
    ['has lost its certificate', (kept) => kept.slice(0, kept.indexOf('-----BEGIN CERTIFICATE'))],
    ['has a changed certificate', (kept) => kept.replace(/(BEGIN CERTIFICATE-----\n)./, '$1A')],
  ])('is never replaced if its file %s', async (_what, damage) => {
    await new DataAuthority(folder).issue(host);
    const file = join(folder, 'data-authority.pem');
    const damaged = damage(readFileSync(file, 'utf8'));
    writeFileSync(file, damaged);
    await expect(new DataAuthority(folder).issue(host)).rejects.toThrow(
      'is damaged; restore it from a backup',
    );
    expect(readFileSync(file, 'utf8')).toBe(damaged);
  });
});
