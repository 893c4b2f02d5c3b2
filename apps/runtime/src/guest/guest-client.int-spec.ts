import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { GuestClient } from './guest-client.js';

describe('the client of a guest', () => {
  let dir: string;
  let server: Server | undefined;
  let client: GuestClient | undefined;

  beforeEach(() => {
    dir = mkdtempSync(join(tmpdir(), 'berth-client-'));
  });

  afterEach(async () => {
    await client?.close();
    server?.closeAllConnections();
    server?.close();
    rmSync(dir, { recursive: true, force: true });
  });

  const serve = async (
    folder: string,
    listener: Parameters<typeof createServer>[1],
  ): Promise<GuestClient> => {
    const before = process.cwd();
    process.chdir(folder);
    server = createServer(listener as never).listen('guest.sock');
    await once(server, 'listening');
    process.chdir(before);
    client = new GuestClient(join(folder, 'guest.sock'));
    return client;
  };

  const health = JSON.stringify({ version: '1.0.0', capabilities: [], program: 'none' });

  it('connects to a socket whose path is longer than the kernel accepts', async () => {
    const folder = join(dir, 'x'.repeat(100), 'y'.repeat(100));
    mkdirSync(folder, { recursive: true });
    const guest = await serve(folder, (_: unknown, response: { end(text: string): void }) =>
      response.end(health),
    );
    expect(await guest.health()).toMatchObject({ version: '1.0.0' });
  });

  it('limits the size of a response', async () => {
    let sent = 0;
    const guest = await serve(dir, (_: unknown, response: import('node:http').ServerResponse) => {
      const more = (): void => {
        if (response.destroyed || sent > 100e6) return;
        sent += 65_536;
        response.write(' '.repeat(65_536), more);
      };
      more();
    });
    await expect(guest.health()).rejects.toMatchObject({ code: 'guest_unreachable' });
    expect(sent).toBeLessThan(20e6);
  });

  it('times out when a guest accepts connections but does not respond', async () => {
    const guest = await serve(dir, () => undefined);
    const begunAt = performance.now();
    await expect(guest.health()).rejects.toMatchObject({ code: 'guest_unreachable' });
    expect(performance.now() - begunAt).toBeLessThan(4_000);
  });

  it.each(['nonsense', '[1', '"text"'])('rejects %s as a response', async (text) => {
    const guest = await serve(dir, (_: unknown, response: { end(text: string): void }) => response.end(text));
    await expect(guest.health()).rejects.toMatchObject({ code: 'guest_unreachable' });
  });
});
