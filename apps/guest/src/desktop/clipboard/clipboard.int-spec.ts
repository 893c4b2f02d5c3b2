import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DesktopFixture } from '../__fixtures__/desktop.fixture.js';
import { internAtom } from '../x11/x-connection.js';
import { packRequest, u32 } from '../x11/x-packing.js';

const SELECTION_NOTIFY = 31;
const MOST = 262_144;

let fixture: DesktopFixture;
beforeAll(async () => {
  fixture = await DesktopFixture.open();
});
afterAll(() => fixture.close());

const paste = (): Promise<string> => fixture.run('xclip', '-selection', 'clipboard', '-o');

/** What the owner of the clipboard hands out for a target, and the name of the kind that it says this is. */
const convert = async (target: string): Promise<{ readonly kind: string; readonly text: string }> => {
  const { connection, id } = await fixture.window({ x: 0, y: 0, width: 10, height: 10 });
  const [clipboard = 0, wanted = 0, property = 0] = await Promise.all(
    ['CLIPBOARD', target, 'CONVERTED'].map((name) => internAtom(connection, name)),
  );
  const answered = new Promise<Buffer>((resolve) => connection.onEvent(SELECTION_NOTIFY, resolve));
  connection.send(packRequest(24, 0, u32(id, clipboard, wanted, property, 0)));
  if ((await answered).readUInt32LE(20) === 0) return { kind: 'refused', text: '' };
  const value = await connection.ask(packRequest(20, 0, u32(id, property, 0, 0, 1_000)));
  const kind = await connection.ask(packRequest(17, 0, u32(value.readUInt32LE(8))));
  connection.close();
  const textOf = (reply: Buffer, length: number): string => reply.toString('latin1', 32, 32 + length);
  return { kind: textOf(kind, kind.readUInt16LE(8)), text: textOf(value, value.readUInt32LE(16)) };
};

const copy = (text: string): void => {
  const file = join(fixture.dir, 'copied');
  writeFileSync(file, text);
  fixture.start('xclip', '-quiet', '-selection', 'clipboard', '-i', file);
};

/** Reads until another program has taken the clipboard. */
const read = (): ReturnType<typeof expect.poll<string>> =>
  expect.poll(() => fixture.desktop.clipboard.read(MOST), { timeout: 20_000 });

describe('the clipboard of a desktop', () => {
  it('is empty when nobody has put anything on it', async () => {
    expect(await fixture.desktop.clipboard.read(MOST)).toBe('');
  });

  it('gives other programs the text that was put on it, however long', async () => {
    const text = 'Grüße 😀 '.repeat(40_000);
    await fixture.desktop.clipboard.write(text);
    expect(await paste()).toBe(text);
    expect(await fixture.desktop.clipboard.read(MOST)).toBe(Array.from(text).slice(0, MOST).join(''));
  });

  it('reads the text of another program, and after that what is put on it anew', async () => {
    await fixture.desktop.clipboard.write('before');
    copy('from outside: ünïcödé 日本 😀');
    await read().toBe('from outside: ünïcödé 日本 😀');
    await fixture.desktop.clipboard.write('from inside');
    expect([await fixture.desktop.clipboard.read(MOST), await paste()]).toEqual([
      'from inside',
      'from inside',
    ]);
  });

  it('keeps what was put on it last, although it has not yet heard that another program had it before', async () => {
    await fixture.desktop.clipboard.write('first');
    const take = 'printf between | xclip -selection clipboard -i';
    const taken = '[ "$(timeout 1 xclip -selection clipboard -o)" = between ]';
    // Until it ends, nothing is read from the X server here.
    execFileSync('sh', ['-c', `${take}; until ${taken}; do :; done`], {
      env: fixture.session.env,
      stdio: 'ignore',
    });
    await fixture.desktop.clipboard.write('last');
    expect([await fixture.desktop.clipboard.read(MOST), await paste()]).toEqual(['last', 'last']);
  });

  it('gives old programs the text in Latin 1 only if that has all of its characters', async () => {
    await fixture.desktop.clipboard.write('Grüße');
    expect(await convert('STRING')).toEqual({ kind: 'STRING', text: 'Grüße' });
    expect(await convert('TEXT')).toEqual({ kind: 'UTF8_STRING', text: 'GrÃ¼Ã\u009fe' });
    await fixture.desktop.clipboard.write('5 €');
    expect(await convert('STRING')).toEqual({ kind: 'refused', text: '' });
    expect(await paste()).toBe('5 €');
  });

  it('reads as many characters as were asked for of a text that its owner hands out in pieces', async () => {
    const text = 'ä😀x'.repeat(200_000);
    copy(text);
    await read().toBe(Array.from(text).slice(0, MOST).join(''));
  });

  it('names the reason when the owner of the clipboard hangs, and works again with the next owner', async () => {
    const window = await fixture.window({ x: 0, y: 0, width: 10, height: 10 });
    const clipboard = await internAtom(window.connection, 'CLIPBOARD');
    window.connection.send(packRequest(22, 0, u32(window.id, clipboard, 0)));
    await window.connection.sync();
    await expect(fixture.desktop.clipboard.read(MOST)).rejects.toMatchObject({
      code: 'clipboard_unresponsive',
    });
    await fixture.desktop.clipboard.write('next');
    expect(await paste()).toBe('next');
  });
});
