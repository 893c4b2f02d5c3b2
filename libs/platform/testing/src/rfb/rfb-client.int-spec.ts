import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { RfbClient } from './rfb-client.js';

it('a client of a VNC server gets an update when the screen changes, and notices the end of the server', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'berth-rfb-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const vnc = ['-rfbport', '-1', '-rfbunixpath', join(folder, 'vnc'), '-SecurityTypes', 'None'];
  const args = ['-displayfd', '3', '-geometry', '640x480', '-depth', '24', '-nolisten', 'tcp', ...vnc];
  const server = spawn('Xvnc', args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  onTestFinished(() => void server.kill('SIGKILL'));
  const [number] = (await once(server.stdio[3] as NodeJS.ReadableStream, 'data')) as [Buffer];

  const client = await RfbClient.overSocket(join(folder, 'vnc'));
  onTestFinished(() => client.close());
  expect(client).toMatchObject({ greeting: 'RFB 003.008\n', securityTypes: [1] });
  expect(client.display).toEqual({ width: 640, height: 480 });
  await client.update();
  const before = client.bytes;
  const changed = client.update();
  const env = { ...process.env, DISPLAY: `:${number.toString().trim()}` };
  const terminal = spawn('xterm', { env, stdio: 'ignore' });
  onTestFinished(() => void terminal.kill('SIGKILL'));
  await changed;
  expect(client.bytes).toBeGreaterThan(before);
  server.kill('SIGTERM');
  await client.closed;
});
