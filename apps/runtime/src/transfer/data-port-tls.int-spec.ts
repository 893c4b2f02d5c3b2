import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json } from 'node:stream/consumers';
import { DataAuthority, type DataCertificate } from '@berth/broker-users';
import { ConfigError, type Env } from '@berth/config';
import { dataPortName, newId } from '@berth/kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { HostFixture } from '../__fixtures__/host.fixture.js';
import { readRuntimeConfig } from '../config.js';

const HOST = newId('hst');
const folder = mkdtempSync(join(tmpdir(), 'data-port-tls-'));
const at = (file: string): string => join(folder, file);
let issued: DataCertificate;

beforeAll(async () => {
  const authority = new DataAuthority(folder);
  issued = await authority.issue(HOST);
  writeFileSync(at('cert.pem'), issued.certificate);
  writeFileSync(at('key.pem'), issued.key);
  writeFileSync(at('other-key.pem'), (await authority.issue(newId('hst'))).key);
});
afterAll(() => rmSync(folder, { recursive: true }));

const read = (env: Env) => readRuntimeConfig({ NATS_URL: 'nats://h:4222', ...env });
const CERT = at('cert.pem');
const KEY = at('key.pem');

describe('the configuration of a data port', () => {
  it('is plain without a certificate, and has TLS with one', () => {
    expect(read({}).dataPort.tls).toBeUndefined();
    expect(read({ BERTH_DATA_CERT: CERT, BERTH_DATA_KEY: KEY }).dataPort.tls).toEqual({
      cert: issued.certificate,
      key: issued.key,
    });
  });

  it.each<[string, Env, string]>([
    [
      'a certificate without its key',
      { BERTH_DATA_CERT: CERT },
      'BERTH_DATA_CERT and BERTH_DATA_KEY must be set together',
    ],
    [
      'a key without its certificate',
      { BERTH_DATA_KEY: KEY },
      'BERTH_DATA_CERT and BERTH_DATA_KEY must be set together',
    ],
    [
      'a certificate that cannot be read',
      { BERTH_DATA_CERT: at('none'), BERTH_DATA_KEY: KEY },
      'BERTH_DATA_CERT must name a PEM file with a certificate that can be read',
    ],
    [
      'a file that contains no key',
      { BERTH_DATA_CERT: CERT, BERTH_DATA_KEY: CERT },
      'BERTH_DATA_KEY must name a PEM file with a private key that can be read',
    ],
    [
      'the key of another certificate',
      { BERTH_DATA_CERT: CERT, BERTH_DATA_KEY: at('other-key.pem') },
      'BERTH_DATA_KEY must be the key of BERTH_DATA_CERT',
    ],
    [
      'a plain URL',
      { BERTH_DATA_CERT: CERT, BERTH_DATA_KEY: KEY, BERTH_DATA_URL: 'http://host:7080' },
      'BERTH_DATA_URL must be a URL that begins with https://',
    ],
  ])('refuses %s, with one line that shows no key', (_what, env, problem) => {
    expect(() => read(env)).toThrow(new ConfigError([problem]));
  });
});

describe('a data port with a certificate', () => {
  it('announces an https URL, and transfers under the name of its host', async () => {
    const { dataPort } = read({ BERTH_DATA_CERT: CERT, BERTH_DATA_KEY: KEY });
    const host = await HostFixture.open({ tls: dataPort.tls });
    try {
      const recipe = HostFixture.recipe({ templateId: 'blank' });
      await host.agents.start(recipe);
      const { agentId } = recipe;
      const ticket = host.transfers.open({ agentId, epoch: 1, transfer: { kind: 'list', path: null } });
      const url = new URL(host.dataPort.url);
      expect(url.protocol).toBe('https:');
      const request = httpsRequest(url, {
        agent: new Agent(),
        ca: issued.authority,
        servername: dataPortName(HOST),
        headers: { authorization: `Bearer ${ticket}` },
      }).end();
      const [response] = await once(request, 'response');
      expect(response.statusCode).toBe(200);
      expect(await json(response)).toMatchObject({ entries: [] });
    } finally {
      await host.destroy();
    }
  });
});
