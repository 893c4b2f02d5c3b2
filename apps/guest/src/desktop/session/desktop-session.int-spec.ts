import { existsSync, mkdtempSync, readdirSync, rmdirSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DesktopFixture, readPng } from '../__fixtures__/desktop.fixture.js';
import { XConnection } from '../x11/x-connection.js';
import { DesktopSession } from './desktop-session.js';

let fixture: DesktopFixture;
beforeAll(async () => {
  fixture = await DesktopFixture.open();
});
afterAll(() => fixture.close());

describe('a desktop', () => {
  it('lets nobody to its display who does not know its secret', async () => {
    const { socket } = fixture.session.display;
    await expect(XConnection.open({ socket, cookie: Buffer.alloc(16) })).rejects.toMatchObject({
      code: 'display_unsupported',
    });
  });

  it('has the socket of its viewer in a folder that only its user can enter', () => {
    const { vncSocket } = fixture.session;
    expect(statSync(vncSocket).mode & 0o777).toBe(0o600);
    expect(statSync(dirname(vncSocket)).mode & 0o777).toBe(0o700);
  });

  it('has a window manager, a panel that takes no room from windows, and a background', async () => {
    const { desktop } = fixture;
    await desktop.paintWallpaper();
    await expect
      .poll(() => fixture.run('xprop', '-root', '_NET_SUPPORTING_WM_CHECK'), { timeout: 20_000 })
      .toMatch(/0x/);
    await expect
      .poll(() => fixture.run('xprop', '-root', '_NET_WORKAREA'), { timeout: 20_000 })
      .toMatch(/0, 0, 1280, 7[0-9]{2}/);
    const size = { width: 1280, height: 800 };
    const image = readPng((await desktop.screen.capture({ format: 'png', quality: 80, size })).data);
    expect(image.at(5, 5)).not.toBe(0);
    expect(image.at(5, 5)).not.toBe(image.at(1275, 600));
  });

  it('starts its terminal under the name that programs use for it', async () => {
    fixture.start('x-terminal-emulator', '-title', 'started');
    await expect
      .poll(() => fixture.run('xwininfo', '-root', '-tree'), { timeout: 20_000 })
      .toMatch(/"started"/);
  });

  it('starts its window manager again when that ends', async () => {
    const manager = async (): Promise<number> =>
      Number((await fixture.run('xprop', '-root', '_OPENBOX_PID')).match(/\d+$/m)?.[0] ?? 0);
    await expect.poll(manager, { timeout: 20_000 }).toBeGreaterThan(0);
    const first = await manager();
    process.kill(first, 'SIGKILL');
    await expect.poll(manager, { timeout: 20_000 }).not.toBe(first);
  });

  it('leaves nothing when its X server has been killed', async () => {
    const other = await DesktopFixture.open();
    const { serverPid = 0, display, vncSocket } = other.session;
    process.kill(serverPid, 'SIGKILL');
    await other.desktop.lost;
    await other.close();
    const left = [display.socket, vncSocket].filter((file) => existsSync(file));
    expect(left).toEqual([]);
  });

  it('leaves nothing when its X server does not start', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'berth-desktop-'));
    const place = { width: 0, height: 480, home: dir, runtime: join(dir, 'runtime'), env: {}, runAs: null };
    for (const path of ['/usr/bin:/bin', dir]) {
      await expect(DesktopSession.start({ ...place, path })).rejects.toMatchObject({ code: 'display_lost' });
      expect(readdirSync(dir)).toEqual([]);
    }
    rmdirSync(dir);
  });

  it('leaves no process and no file when it stops', async () => {
    const other = await DesktopFixture.open();
    const pid = other.session.serverPid ?? 0;
    const { vncSocket } = other.session;
    await other.close();
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(statSync(vncSocket, { throwIfNoEntry: false })).toBeUndefined();
  });
});
