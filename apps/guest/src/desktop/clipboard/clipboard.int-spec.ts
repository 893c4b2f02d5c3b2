import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DesktopFixture } from '../__fixtures__/desktop.fixture.js';
import { internAtom } from '../x11/x-connection.js';
import { packRequest, u32 } from '../x11/x-packing.js';

let fixture: DesktopFixture;
beforeAll(async () => {
  fixture = await DesktopFixture.open();
});
afterAll(() => fixture.close());

const paste = (): Promise<string> => fixture.run('xclip', '-selection', 'clipboard', '-o');

const copy = (text: string): void => {
  const file = join(fixture.dir, 'copied');
  writeFileSync(file, text);
  fixture.start('xclip', '-quiet', '-selection', 'clipboard', '-i', file);
};

/** Reads until another program has taken the clipboard. */
const read = (): ReturnType<typeof expect.poll<string>> =>
  expect.poll(() => fixture.desktop.clipboard.read(), { timeout: 20_000 });

describe('the clipboard of a desktop', () => {
  it('is empty when nobody has put anything on it', async () => {
    expect(await fixture.desktop.clipboard.read()).toBe('');
  });

  it('gives other programs the text that was put on it, however long', async () => {
    const text = 'Grüße 😀 '.repeat(40_000);
    await fixture.desktop.clipboard.write(text);
    expect(await paste()).toBe(text);
    expect(await fixture.desktop.clipboard.read()).toBe(Array.from(text).slice(0, 262_144).join(''));
  });

  it('reads the text of another program, and after that what is put on it anew', async () => {
    copy('from outside: ünïcödé 日本 😀');
    await read().toBe('from outside: ünïcödé 日本 😀');
    await fixture.desktop.clipboard.write('from inside');
    expect([await fixture.desktop.clipboard.read(), await paste()]).toEqual(['from inside', 'from inside']);
  });

  it('reads the first 262,144 characters of a text that its owner hands out in pieces', async () => {
    const text = 'ä😀x'.repeat(200_000);
    copy(text);
    await read().toBe(Array.from(text).slice(0, 262_144).join(''));
  });

  it('names the reason when the owner of the clipboard hangs, and works again with the next owner', async () => {
    const window = await fixture.window({ x: 0, y: 0, width: 10, height: 10 });
    const clipboard = await internAtom(window.connection, 'CLIPBOARD');
    window.connection.send(packRequest(22, 0, u32(window.id, clipboard, 0)));
    await window.connection.sync();
    await expect(fixture.desktop.clipboard.read()).rejects.toMatchObject({ code: 'clipboard_unresponsive' });
    await fixture.desktop.clipboard.write('next');
    expect(await paste()).toBe('next');
  });
});
