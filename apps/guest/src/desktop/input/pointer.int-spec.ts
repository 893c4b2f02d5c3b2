import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { DesktopFixture, type ProbeWindow } from '../__fixtures__/desktop.fixture.js';

const LEFT = 1;
const RIGHT = 3;
const BACK = 8;

let fixture: DesktopFixture;
let window: ProbeWindow;
beforeAll(async () => {
  fixture = await DesktopFixture.open();
  window = await fixture.window({ x: 100, y: 100, width: 600, height: 400 });
});
beforeEach(async () => {
  await fixture.desktop.pointer.move({ x: 10, y: 10 });
  await window.read();
});
afterAll(() => fixture.close());

const buttons = async (): Promise<readonly unknown[]> =>
  (await window.read())
    .filter(({ kind }) => kind !== 'motion')
    .map(({ kind, detail, x, y }) => [kind, detail, x, y]);

describe('the pointer of a desktop', () => {
  it('clicks each button at the pixel that was named, as often as was asked for', async () => {
    await fixture.desktop.pointer.click({ x: 150, y: 160 }, LEFT, 2);
    await fixture.desktop.pointer.click({ x: 151, y: 161 }, RIGHT, 1);
    await fixture.desktop.pointer.click({ x: 152, y: 162 }, BACK, 1);
    const press = (button: number, x: number, y: number): readonly unknown[] => [
      ['button', button, x, y],
      ['buttonUp', button, x, y],
    ];
    const left = press(1, 150, 160);
    expect(await buttons()).toEqual([...left, ...left, ...press(3, 151, 161), ...press(8, 152, 162)]);
    expect(await fixture.desktop.pointer.position()).toEqual({ x: 152, y: 162 });
  });

  it('presses a button at no time twice: programs would take two clicks for one', async () => {
    const { pointer } = fixture.desktop;
    await pointer.move({ x: 200, y: 200 });
    for (let click = 0; click < 10; click++) {
      await pointer.down(1);
      await pointer.up(1);
    }
    const times = (await window.read()).filter(({ kind }) => kind === 'button').map(({ time }) => time);
    expect(new Set(times).size).toBe(10);
  });

  it('keeps a button down until it is released', async () => {
    await fixture.desktop.pointer.move({ x: 200, y: 200 });
    await fixture.desktop.pointer.down(LEFT);
    await fixture.desktop.pointer.move({ x: 300, y: 300 });
    expect(await buttons()).toEqual([['button', 1, 200, 200]]);
    await fixture.desktop.pointer.up(LEFT);
    expect(await buttons()).toEqual([['buttonUp', 1, 300, 300]]);
  });

  it('scrolls by notches in each direction', async () => {
    await fixture.desktop.pointer.scroll({ x: 200, y: 200 }, { right: -1, down: 3 });
    await fixture.desktop.pointer.scroll({ x: 200, y: 200 }, { right: 2, down: -1 });
    const pressed = (await window.read()).filter(({ kind }) => kind === 'button').map(({ detail }) => detail);
    expect(pressed).toEqual([5, 5, 5, 6, 4, 7, 7]);
  });

  it('drags through all points of a path with the left button down, in small steps', async () => {
    const path = [
      { x: 150, y: 150 },
      { x: 350, y: 150 },
      { x: 350, y: 250 },
    ];
    await fixture.desktop.pointer.drag(path);
    const events = await window.read();
    const during = events.slice(
      events.findIndex(({ kind }) => kind === 'button'),
      events.findIndex(({ kind }) => kind === 'buttonUp') + 1,
    );
    expect(during[0]).toMatchObject({ detail: 1, x: 150, y: 150 });
    expect(during.at(-1)).toMatchObject({ kind: 'buttonUp', detail: 1, x: 350, y: 250 });
    const moves = during.filter(({ kind }) => kind === 'motion');
    expect(moves.length).toBeGreaterThanOrEqual(8);
    expect(moves).toContainEqual(expect.objectContaining({ x: 350, y: 150, state: 256 }));
  });
});
