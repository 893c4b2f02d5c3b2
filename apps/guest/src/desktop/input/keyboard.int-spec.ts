import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DesktopFixture } from '../__fixtures__/desktop.fixture.js';
import { joinVnc } from '../vnc/vnc-server.js';
import { keysymOf } from './keysyms.js';

let fixture: DesktopFixture;
beforeAll(async () => {
  fixture = await DesktopFixture.open();
});
afterAll(() => fixture.close());

const CONTROL = 0xffe3;
const D = 0x64;
const PLACE = { x: 0, y: 0, width: 200, height: 100 };

let files = 0;

/** Types texts into a terminal that runs `cat`, ends it, and returns what it has read. */
const typeIntoTerminal = async (...parts: readonly (string | (() => Promise<void>))[]): Promise<string> => {
  const name = `typed-${++files}`;
  const terminal = fixture.start(
    'xterm',
    '-title',
    name,
    '-e',
    'sh',
    '-c',
    `stty -echo; : > ready-${name}; cat > ${name}; : > done-${name}`,
  );
  const file = (prefix: string): string => readFileSync(join(fixture.dir, prefix + name), 'utf8');
  await expect.poll(() => file('ready-'), { timeout: 20_000 }).toBe('');
  await focused(name);
  for (const part of parts) await (typeof part === 'string' ? fixture.desktop.keyboard.type(part) : part());
  await fixture.desktop.keyboard.chord([CONTROL, D]);
  await expect.poll(() => file('done-'), { timeout: 20_000 }).toBe('');
  terminal.kill('SIGKILL');
  return file('');
};

/** Down and up, as a client of VNC sends them. */
const keyOfViewer = (character: string): Buffer => {
  const events = Buffer.from([4, 1, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
  for (const at of [4, 12]) events.writeUInt32BE(keysymOf(character) ?? 0, at);
  return events;
};

/** The window manager has given the focus to the window with this title. */
const focused = (title: string): Promise<void> =>
  expect
    .poll(
      async () => {
        const [id = '0x0'] = (await fixture.run('xprop', '-root', '_NET_ACTIVE_WINDOW')).match(/0x\w+/) ?? [];
        return id === '0x0' ? '' : fixture.run('xprop', '-id', id, 'WM_NAME').catch(() => '');
      },
      { timeout: 20_000 },
    )
    .toContain(`"${title}"`);

describe('the keyboard of a desktop', () => {
  it('types any Unicode text exactly: accents, combining marks, other scripts and emoji', async () => {
    const text =
      'Hello, World! ~`{}|"\\@#$%^&*()_+ äöüßÄÖ€ñ Привет, שלום مرحبا 日本語 😀🏽👍 e\u0301 o\u0308\ttab\n';
    expect(await typeIntoTerminal(text)).toBe(text);
  });

  it('types what a viewer has typed before it, which has a keyboard of its own', async () => {
    const { vncSocket, vncPasswords } = fixture.session;
    const text = 'aфÄ漢я\n';
    const typed = await typeIntoTerminal(async () => {
      const viewer = await joinVnc(vncSocket, vncPasswords.control);
      viewer?.send(Buffer.concat(Array.from('фÄ漢', keyOfViewer)));
      await viewer?.done();
      viewer?.close();
    }, text);
    expect(typed.slice(-text.length)).toBe(text);
  });

  it('types more different characters than the keyboard map has keys to spare', async () => {
    const lines = Array.from({ length: 5 }, (_, line) =>
      Array.from({ length: 80 }, (_unused, at) => String.fromCodePoint(0x4e00 + line * 80 + at)).join(''),
    );
    const text = `${lines.join('\n')}\n`;
    expect(await typeIntoTerminal(text)).toBe(text);
  });

  it('refuses a text with a control character that no key enters before it types anything', async () => {
    const window = await fixture.window(PLACE);
    await window.grabKeyboard();
    await expect(fixture.desktop.keyboard.type('ab\u0001')).rejects.toMatchObject({ code: 'untypable_text' });
    expect(await window.read()).toEqual([]);
    window.connection.close();
  });

  it('types to a window that has grabbed the keyboard as a person would', async () => {
    const window = await fixture.window(PLACE);
    await window.grabKeyboard();
    await fixture.desktop.keyboard.type('ab');
    expect((await window.read()).map(({ kind }) => kind)).toEqual(['key', 'keyUp', 'key', 'keyUp']);
    window.connection.close();
  });

  it('presses a chord in order, lets it go in reverse, and repeats it', async () => {
    const window = await fixture.window(PLACE);
    await window.grabKeyboard();
    await fixture.desktop.keyboard.chord([CONTROL, D], { repeat: 2 });
    const events = await window.read();
    const [control, d] = events.map(({ detail }) => detail);
    const once = [
      ['key', control, 0],
      ['key', d, 4],
      ['keyUp', d, 4],
      ['keyUp', control, 4],
    ];
    expect(events.map(({ kind, detail, state }) => [kind, detail, state])).toEqual([...once, ...once]);
    window.connection.close();
  });

  it('holds a capital with shift until all keys are let go', async () => {
    const window = await fixture.window(PLACE);
    await window.grabKeyboard();
    const A = 0x41;
    await fixture.desktop.keyboard.down(A);
    expect((await window.read()).map(({ kind, state }) => [kind, state])).toEqual([
      ['key', 0],
      ['key', 1],
    ]);
    await fixture.desktop.keyboard.releaseAll();
    expect((await window.read()).map(({ kind }) => kind)).toEqual(['keyUp', 'keyUp']);
    window.connection.close();
  });
});
