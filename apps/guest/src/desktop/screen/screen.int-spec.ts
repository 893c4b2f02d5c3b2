import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DesktopFixture, readPng } from '../__fixtures__/desktop.fixture.js';
import { XConnection } from '../x11/x-connection.js';
import { FrameSource } from './frame-source.js';
import { Screen, type ImageRequest } from './screen.js';

const RED = 0xe02040;
const BLUE = 0x1060f0;
const HALF = { width: 640, height: 400 };
const PNG: ImageRequest = { format: 'png', quality: 80, size: { width: 1280, height: 800 } };

let fixture: DesktopFixture;
beforeAll(async () => {
  fixture = await DesktopFixture.open();
});
afterAll(() => fixture.close());

const capture = async (request: Partial<ImageRequest> = {}): Promise<ReturnType<typeof readPng>> =>
  readPng((await fixture.desktop.screen.capture({ ...PNG, ...request })).data);

describe('the screen of a desktop', () => {
  it('shows each pixel in its colour, also what has changed since the last image', async () => {
    const window = await fixture.window({ x: 100, y: 50, width: 300, height: 200 }, RED);
    await fixture.desktop.pointer.move({ x: 900, y: 700 });
    const before = await capture();
    await window.paint(BLUE);
    const after = await capture();
    const corners = [
      [100, 50],
      [399, 50],
      [100, 249],
      [399, 249],
    ] as const;
    expect([before.width, before.height]).toEqual([1280, 800]);
    expect(corners.map(([x, y]) => before.at(x, y))).toEqual([RED, RED, RED, RED]);
    expect(corners.map(([x, y]) => after.at(x, y))).toEqual([BLUE, BLUE, BLUE, BLUE]);
    expect([before.at(99, 50), before.at(400, 249)]).not.toContain(RED);
    window.connection.close();
  });

  it('draws the pointer where it is', async () => {
    const window = await fixture.window({ x: 100, y: 50, width: 300, height: 200 }, RED);
    const isDrawn = async (x: number, y: number): Promise<boolean> => {
      const image = await capture();
      const pixels = Array.from({ length: 400 }, (_, index) =>
        image.at(x + (index % 20), y + Math.floor(index / 20)),
      );
      return pixels.some((pixel) => pixel !== RED);
    };
    await fixture.desktop.pointer.move({ x: 150, y: 100 });
    expect([await isDrawn(150, 100), await isDrawn(250, 150)]).toEqual([true, false]);
    await fixture.desktop.pointer.move({ x: 250, y: 150 });
    expect([await isDrawn(150, 100), await isDrawn(250, 150)]).toEqual([false, true]);
    window.connection.close();
  });

  it('makes the image of the whole screen or of a part in the size that is asked for', async () => {
    const window = await fixture.window({ x: 100, y: 50, width: 300, height: 200 }, RED);
    await fixture.desktop.pointer.move({ x: 900, y: 700 });
    const half = await capture({ size: HALF });
    expect([half.width, half.height, half.at(60, 40), half.at(198, 123)]).toEqual([640, 400, RED, RED]);
    const wide = await capture({
      region: { x: 110, y: 60, width: 200, height: 100 },
      size: { width: 1280, height: 640 },
    });
    expect([wide.width, wide.height, wide.at(0, 0), wide.at(1279, 639)]).toEqual([1280, 640, RED, RED]);
    const tall = await capture({
      region: { x: 110, y: 60, width: 100, height: 125 },
      size: { width: 320, height: 400 },
    });
    expect([tall.width, tall.height, tall.at(0, 0), tall.at(319, 399)]).toEqual([320, 400, RED, RED]);
    window.connection.close();
  });

  it('makes a JPEG of the size of the image that is smaller at a lower quality', async () => {
    const window = await fixture.window({ x: 100, y: 50, width: 300, height: 200 }, RED);
    const [good, poor] = await Promise.all(
      [90, 5].map((quality) => fixture.desktop.screen.capture({ format: 'jpeg', quality, size: HALF })),
    );
    const size = (await fixture.run('identify', '-format', '%m %w %h', await saved(good?.data))).trim();
    expect(size).toBe('JPEG 640 400');
    expect(poor?.data.length).toBeLessThan(Number(good?.data.length));
    window.connection.close();
  });

  it('gives a hundred callers at the same time an image that is no older than their call', async () => {
    const window = await fixture.window({ x: 100, y: 50, width: 300, height: 200 }, RED);
    await fixture.desktop.pointer.move({ x: 900, y: 700 });
    const early = Array.from({ length: 50 }, () => capture());
    await window.paint(BLUE);
    const late = Array.from({ length: 50 }, () => capture());
    const colours = (await Promise.all(late)).map((image) => image.at(200, 100));
    expect(new Set(colours)).toEqual(new Set([BLUE]));
    expect((await Promise.all(early)).length).toBe(50);
    window.connection.close();
  });

  it('makes each image of what was on the screen when it was captured, however many wait for their turn', async () => {
    const window = await fixture.window({ x: 100, y: 50, width: 300, height: 200 }, RED);
    await fixture.desktop.pointer.move({ x: 900, y: 700 });
    const images = Array.from({ length: 12 }, (_, index) =>
      fixture.desktop.screen.capture({ ...PNG, size: { width: 1280 - index, height: 800 } }),
    );
    await images[0];
    const paintedAt = Date.now();
    await window.paint(BLUE);
    await fixture.desktop.screen.untilStill();
    const early = (await Promise.all(images)).filter(({ capturedAt }) => capturedAt < paintedAt);
    expect(early.length).toBeGreaterThan(0);
    expect(new Set(early.map(({ data }) => readPng(data).at(180, 100)))).toEqual(new Set([RED]));
    window.connection.close();
  });

  it('looks at the display once at a time, whenever its callers come', async () => {
    const source = await FrameSource.open(await XConnection.open(fixture.session.display));
    const looks: number[] = [];
    let looking = 0;
    const captured: Promise<unknown>[] = [];
    const counted = {
      refresh: async () => {
        looks.push(++looking);
        const view = await source.refresh();
        looking--;
        for (let turn = Promise.resolve(), turns = 0; captured.length < 200 && turns < 10; turns++) {
          turn = turn.then(() => undefined);
          captured.push(turn.then(() => screen.untilStill()));
        }
        return view;
      },
    };
    const screen = new Screen(counted);
    await screen.untilStill();
    await Promise.all(captured);
    expect(captured.length).toBeGreaterThan(0);
    expect(new Set(looks)).toEqual(new Set([1]));
  });

  it('is still 300 ms after the last change, and is waited for 3 s at most', async () => {
    const window = await fixture.window({ x: 100, y: 50, width: 300, height: 200 }, RED);
    let paints = 0;
    let painting = true;
    const paint = async (): Promise<void> => {
      while (painting) {
        await window.paint(paints++ % 2 === 0 ? BLUE : RED);
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
    };
    const painted = paint();
    const startedAt = performance.now();
    await fixture.desktop.screen.untilStill();
    const busyMs = performance.now() - startedAt;
    painting = false;
    await painted;
    const quietAt = performance.now();
    await fixture.desktop.screen.untilStill();
    const quietMs = performance.now() - quietAt;
    expect(busyMs).toBeGreaterThanOrEqual(2_900);
    expect(quietMs).toBeGreaterThanOrEqual(290);
    expect(quietMs).toBeLessThan(busyMs);
    window.connection.close();
  });
});

describe('other desktops', () => {
  it('show a display of 2560 × 1600 pixels whole', async () => {
    const large = await DesktopFixture.open({ width: 2560, height: 1600 });
    try {
      await large.window({ x: 2460, y: 1500, width: 100, height: 100 }, RED);
      const image = readPng(
        (await large.desktop.screen.capture({ ...PNG, size: { width: 2560, height: 1600 } })).data,
      );
      expect([image.width, image.height, image.at(2559, 1599)]).toEqual([2560, 1600, RED]);
    } finally {
      await large.close();
    }
  });

  it('fail each call with the same reason when the X server is killed in the middle', async () => {
    const doomed = await DesktopFixture.open();
    try {
      const { screen, pointer, keyboard, clipboard, lost } = doomed.desktop;
      await screen.capture(PNG);
      const typing = keyboard.type('x'.repeat(10_000));
      process.kill(doomed.session.serverPid ?? 0, 'SIGKILL');
      const reason = { code: 'display_lost', kind: 'unavailable' };
      await expect(typing).rejects.toMatchObject(reason);
      await expect(screen.capture(PNG)).rejects.toMatchObject(reason);
      await expect(pointer.click({ x: 1, y: 1 }, 1, 1)).rejects.toMatchObject(reason);
      await expect(clipboard.read(1)).rejects.toMatchObject(reason);
      expect(await lost).toMatchObject(reason);
    } finally {
      await doomed.close();
    }
  });
});

const saved = async (data: Buffer | undefined): Promise<string> => {
  const { writeFile } = await import('node:fs/promises');
  await writeFile(`${fixture.dir}/image.jpg`, data ?? '');
  return `${fixture.dir}/image.jpg`;
};
