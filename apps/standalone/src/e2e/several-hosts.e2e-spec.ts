import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { dataPortName } from '@berth/kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DATA_PORT, listed } from './joined-hosts.fixture.js';
import { SeveralHosts } from './several-hosts.fixture.js';

const hosts = new SeveralHosts();

beforeAll(async () => {
  await hosts.start();
  await hosts.join('one', { tls: true });
});

afterAll(() => hosts.stop());

describe('a host that joined a running installation with a credential and a certificate of its own', () => {
  it('is listed with what it has', async () => {
    const one = await listed(hosts.api, hosts.host(0).id);
    expect(one).toMatchObject({ name: 'one', driver: 'process', state: 'ready', runtimeClasses: [] });
    expect(one?.memMb.free).toBeGreaterThan(0);
    expect(one?.memMb.total).toBeGreaterThan(one?.memMb.free ?? 0);
    expect(one?.diskGb.total).toBeGreaterThan(0);
  });

  it('transfers files and the output of commands over TLS only', async () => {
    const host = hosts.host(0);
    await hosts.expectTransfers(host);
    const address = { host: host.network.address, port: DATA_PORT };
    const ca = readFileSync(join(hosts.stack.dataDir, 'embedded/public/data-ca.pem'));
    const secure = connectTls({ ...address, ca, servername: dataPortName(host.id) });
    await once(secure, 'secureConnect');
    secure.destroy();
    await expect(fetch(`http://${address.host}:${String(address.port)}/v1/transfer`)).rejects.toThrow();
  });
});
