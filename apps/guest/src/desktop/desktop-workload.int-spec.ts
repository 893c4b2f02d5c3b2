import { statSync } from 'node:fs';
import { GUEST_ROUTES } from '@berth/guest-protocol';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { GuestFixture } from '../__fixtures__/guest.fixture.js';
import { ComputerFixture, DESKTOP_USER } from './__fixtures__/computer.fixture.js';

let computer: ComputerFixture;
beforeAll(async () => {
  computer = await ComputerFixture.open();
});
afterAll(() => computer.close());

const PART = { x: 10, y: 10, width: 10, height: 10 };
const xServers = async (): Promise<readonly number[]> =>
  (await computer.run('pgrep -u "$(id -u)" -f "Xvnc .*$XDG_RUNTIME_DIR"')).split('\n').map(Number);
const position = async (): Promise<unknown> => (await computer.act({ type: 'cursor_position' })).cursor;

describe('a guest with a desktop', () => {
  it('runs its programs, and commands on it, as its user, at home in the volume', async () => {
    const lines = (await computer.run('id -u; echo "$HOME"; pwd; xprop -root _NET_SUPPORTED')).split('\n');
    const { guest } = computer;
    const uid = DESKTOP_USER?.uid ?? process.getuid?.();
    expect(lines.slice(0, 3)).toEqual([String(uid), `${guest.dir}/volume`, `${guest.dir}/volume`]);
    expect(lines[3]).toContain('_NET_SUPPORTED');
    expect((await xServers()).filter((pid) => pid > 0)).toHaveLength(1);
  });

  it('has its window manager as soon as it has started', async () => {
    const other = await ComputerFixture.open();
    expect(await other.run('xprop -root _NET_SUPPORTING_WM_CHECK')).toMatch(/window id # 0x/);
    await other.close();
  });

  it('gives it a folder that only its user enters', () => {
    const { mode, uid } = statSync(computer.runtimeFolder);
    expect(mode & 0o777).toBe(0o700);
    expect(uid).toBe(DESKTOP_USER?.uid ?? process.getuid?.());
    expect(statSync(`${computer.runtimeFolder}/vnc-passwords`).mode & 0o777).toBe(0o600);
  });

  it('gives its programs no token', async () => {
    expect(await computer.run('env; cat /proc/$(pgrep -u "$(id -u)" -n tint2)/environ')).not.toContain(
      'token-1',
    );
  });

  it('returns images of its screen with their size and time', async () => {
    const image = (query: string) => computer.send(GUEST_ROUTES.screenshot, undefined, query).reply;
    const png = await image('?format=png&quality=80&scale=0.333');
    expect(png.headers).toMatchObject({
      'content-type': 'image/png',
      'berth-width': '426',
      'berth-height': '266',
      'content-length': String(png.body?.length),
    });
    expect(Date.now() - Date.parse(String(png.headers['berth-captured-at']))).toBeLessThan(60_000);
    const jpeg = await image('?format=jpeg&quality=50&scale=1');
    expect(jpeg.headers['content-type']).toBe('image/jpeg');
    expect(jpeg.body?.subarray(0, 2)).toEqual(Buffer.from([0xff, 0xd8]));
  });

  it('ends what is under way before it is frozen, and begins nothing until it is awake again', async () => {
    const viewer = await computer.view('vws_1', 'control', true);
    const window = await computer.window({ x: 100, y: 100, width: 100, height: 100 });
    await window.grabKeyboard();
    await computer.closeViewers(null);
    await viewer.closed;
    const watcher = await computer.view('vws_2', 'view');
    const batch = computer.begin({ action: 'hold_key', text: 'ctrl', duration: 20 });
    const kinds: string[] = [];
    await expect
      .poll(async () => kinds.push(...(await window.read()).map(({ kind }) => kind)), { timeout: 10_000 })
      .toBeGreaterThan(0);
    await computer.guest.ask(GUEST_ROUTES.failExecutions, {});
    expect(await batch.reply).toMatchObject({ status: 200, body: null });
    expect([...kinds, ...(await window.read()).map(({ kind }) => kind)]).toEqual(['key', 'keyUp']);
    await watcher.closed;
    expect(await computer.refusal({ type: 'move', x: 1, y: 1 })).toMatchObject({ kind: 'unavailable' });
    await expect(computer.view('vws_3', 'view')).rejects.toThrow('422');
    await computer.guest.ask(GUEST_ROUTES.health);
    expect(await position()).toBeDefined();
    expect(await (await computer.view('vws_3', 'view')).screen(PART)).toHaveLength(400);
  });

  it('ends a batch at once whose X server is killed, without an outcome, reports that, and starts another', async () => {
    const killed = computer.guest.ask(GUEST_ROUTES.events, undefined, '?after=0&waitMs=20000');
    const [server = 0] = await xServers();
    const batch = computer.begin({
      actions: [
        { type: 'wait', ms: 60_000 },
        { type: 'move', x: 5, y: 5 },
      ],
    });
    await batch.responded;
    process.kill(server, 'SIGKILL');
    const killedAt = performance.now();
    expect(await batch.reply).toMatchObject({ status: 200, body: null });
    expect(performance.now() - killedAt).toBeLessThan(20_000);
    expect((await killed).body).toMatchObject({
      events: [{ type: 'killed', message: "The computer's desktop was ended by SIGKILL." }],
    });
    expect(await position()).toEqual({ x: 640, y: 400 });
    expect(await xServers()).not.toContain(server);
    expect((await computer.guest.ask(GUEST_ROUTES.health)).body['program']).toBe('serving');
  });
});

describe('a guest without a desktop', () => {
  it('has none of its routes', async () => {
    const guest = await GuestFixture.open();
    await guest.put({ command: null });
    for (const route of [GUEST_ROUTES.actions, GUEST_ROUTES.screenshot, GUEST_ROUTES.closeViewers])
      expect((await guest.ask(route)).body.error?.code).toBe('guest_route_unknown');
    await guest.destroy();
  });
});
