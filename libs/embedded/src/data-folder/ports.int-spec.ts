import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { temporaryDataDir } from '../embedded-bench.fixture.js';
import { StoredPorts, portsOfServers } from './ports.js';

describe('ports', () => {
  const folder = temporaryDataDir();
  const servers: Server[] = [];
  const listeningPort = async (): Promise<number> => {
    const server = createServer().listen(0, '127.0.0.1');
    servers.push(server);
    await once(server, 'listening');
    const address = server.address();
    return typeof address === 'object' && address ? address.port : 0;
  };

  afterEach(() => {
    folder.remove();
    for (const server of servers.splice(0)) server.close();
  });

  it('stay the same when they are read again, and differ between parts', async () => {
    mkdirSync(folder.dataDir, { recursive: true });
    const ports = new StoredPorts(folder.dataDir);
    const [nats, tables] = [await ports.portFor('nats'), await ports.portFor('postgres')];
    expect(nats).not.toBe(tables);
    expect(await new StoredPorts(folder.dataDir).portFor('nats')).toBe(nats);
  });

  it('of parts are outside the ephemeral range, from which a client could take the port of a part', async () => {
    mkdirSync(folder.dataDir, { recursive: true });
    const client = connect({ host: '127.0.0.1', port: await listeningPort() });
    await once(client, 'connect');
    const given = client.localPort ?? 0;
    client.destroy();
    writeFileSync(join(folder.dataDir, 'ports.json'), JSON.stringify({ nats: given }));
    const ports = new StoredPorts(folder.dataDir);
    const [first, last] = portsOfServers();
    for (const part of ['nats', 'event-store', 'postgres']) {
      const port = await ports.portFor(part);
      expect(port).toBeGreaterThanOrEqual(first);
      expect(port).toBeLessThanOrEqual(last);
    }
    expect(given < first || given > last).toBe(true);
  });

  it('are taken from below the ephemeral range, else from above it, or from anywhere if that range covers all ports', () => {
    expect(portsOfServers([32_768, 60_999])).toEqual([20_000, 32_767]);
    expect(portsOfServers([10_000, 60_999])).toEqual([61_000, 65_535]);
    expect(portsOfServers([1_024, 65_535])).toEqual([20_000, 65_535]);
  });
});
