import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DesktopFixture, readPng } from '../__fixtures__/desktop.fixture.js';
import { XConnection } from '../x11/x-connection.js';

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
    const image = readPng((await desktop.screen.capture({ format: 'png', quality: 80, scale: 1 })).data);
    expect(image.at(5, 5)).not.toBe(0);
    expect(image.at(5, 5)).not.toBe(image.at(1275, 600));
  });

  it('starts its terminal under the name that programs use for it', async () => {
    fixture.start('x-terminal-emulator', '-title', 'started');
    await expect
      .poll(() => fixture.run('xwininfo', '-root', '-tree'), { timeout: 20_000 })
      .toMatch(/"started"/);
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
