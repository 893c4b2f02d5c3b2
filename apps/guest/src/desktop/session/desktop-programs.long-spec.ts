import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DesktopFixture } from '../__fixtures__/desktop.fixture.js';

let fixture: DesktopFixture;
beforeAll(async () => {
  fixture = await DesktopFixture.open();
});
afterAll(() => fixture.close());

const PAGE = `<!doctype html><meta charset="utf-8"><title>waiting</title>
<textarea autofocus style="width: 90vw; height: 90vh" onfocus="document.title = 'ready'"
  oninput="document.title = this.value.length"></textarea>`;
const CONTROL = 0xffe3;
const DELETE = 0xffff;

const titles = (): Promise<string> => fixture.run('xwininfo', '-root', '-tree');

describe('the programs of a desktop', () => {
  it('open a folder in the file manager', async () => {
    fixture.start('xdg-open', join(fixture.dir, 'home'));
    await expect.poll(titles, { timeout: 60_000 }).toMatch(/"home[^"]*": \("(thunar|pcmanfm)"/);
  });

  it('have a browser that reads any Unicode text exactly as it was typed, however many characters are new', async () => {
    const page = join(fixture.dir, 'page.html');
    writeFileSync(page, PAGE);
    fixture.start('x-www-browser', `--user-data-dir=${fixture.dir}/browser`, `file://${page}`);
    await expect.poll(titles, { timeout: 120_000 }).toMatch(/"ready - /);
    const { keyboard, clipboard, pointer, screen } = fixture.desktop;
    await pointer.click({ x: 500, y: 400 }, 1, 1);
    await screen.untilStill();
    await clipboard.write('left alone');
    const characters = (from: number): string[] =>
      Array.from({ length: 250 }, (_, index) => String.fromCodePoint(from + index));
    const texts = [
      `Grüße, 日本語 😀👩‍👩‍👧🏽 e\u0301 ñ €\n${characters(0x4e00).join('')}\nend`,
      ...characters(0x5000),
    ];
    for (const text of texts) await keyboard.type(text);
    expect(await clipboard.read(100)).toBe('left alone');
    for (const key of ['a', 'c']) await keyboard.chord([CONTROL, key.charCodeAt(0)]);
    await expect.poll(() => clipboard.read(20_000), { timeout: 30_000 }).toBe(texts.join(''));
    // A page is killed for its memory when thousands of keys wait for it.
    const long = 'Ein Satz über 日本 😀. '.repeat(500);
    await keyboard.chord([DELETE]);
    await keyboard.type(long);
    const [, entered] = /"(\d+) - /.exec(await titles()) ?? [];
    expect(Number(entered)).toBeGreaterThan(long.length / 4);
    for (const key of ['a', 'c']) await keyboard.chord([CONTROL, key.charCodeAt(0)]);
    await expect.poll(() => clipboard.read(20_000), { timeout: 60_000 }).toBe(long);
  });
});
