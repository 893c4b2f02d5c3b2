import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { characterKeysymOf } from '@berth/contracts/computers/keysyms';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { DesktopFixture, type ProbeWindow } from '../__fixtures__/desktop.fixture.js';
import { joinVnc } from '../vnc/vnc-server.js';
import { XConnection } from '../x11/x-connection.js';
import { Keyboard } from './keyboard.js';
import { SHIFT } from './keysyms.js';
import { XInput } from './x-input.js';

let fixture: DesktopFixture;
beforeAll(async () => {
  fixture = await DesktopFixture.open();
});
afterAll(() => fixture.close());

const CONTROL = 0xffe3;
const A = 0x61;
const D = 0x64;
const CAPITAL_A = 0x41;
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
    `stty -echo; : > ready-${name}; cat > ${name}`,
  );
  const ended = once(terminal, 'exit');
  const file = (prefix: string): string => readFileSync(join(fixture.dir, prefix + name), 'utf8');
  await expect.poll(() => file('ready-'), { timeout: 20_000 }).toBe('');
  const window = await focused(name);
  for (const part of parts) await (typeof part === 'string' ? fixture.desktop.keyboard.type(part) : part());
  await fixture.desktop.keyboard.chord([CONTROL, D]);
  await ended;
  await forgotten(window);
  return file('');
};

/** Returns the id of the window with this title when the window manager has given the focus to it. */
const focused = async (title: string): Promise<string> => {
  let id = '';
  const titleOfActive = async (): Promise<string> => {
    [id = ''] = (await fixture.run('xprop', '-root', '_NET_ACTIVE_WINDOW')).match(/0x[1-9a-f]\w*/) ?? [];
    return id === '' ? '' : fixture.run('xprop', '-id', id, 'WM_NAME').catch(() => '');
  };
  await expect.poll(titleOfActive, { timeout: 20_000 }).toContain(`"${title}"`);
  return id;
};

/** Down and up, as a client of VNC sends them. */
const keyOfViewer = (character: string): Buffer => {
  const events = Buffer.from([4, 1, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0]);
  for (const at of [4, 12]) events.writeUInt32BE(characterKeysymOf(character) ?? 0, at);
  return events;
};

/**
 * The window manager knows that a window is gone. It is late after a change of the keyboard map, and would take the next
 * window for this one: the X server gives the ids of a client that has ended to the next.
 */
const forgotten = (window: string): Promise<void> =>
  expect
    .poll(() => fixture.run('xprop', '-root', '_NET_CLIENT_LIST'), { timeout: 20_000 })
    .not.toMatch(new RegExp(`${window}\\b`));

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

  it('types exactly whatever the keyboard map and its locks are', async () => {
    const text = 'The quick brown fox: 0123456789 [{(<öäüß>)}] zZyYqQaA\n';
    await fixture.run('setxkbmap', 'fr');
    const french = await typeIntoTerminal(text);
    await fixture.run('setxkbmap', 'us,ru', '-option', 'grp:menu_toggle');
    const NEXT_GROUP = 0xfe08;
    const CAPS_LOCK = 0xffe5;
    await fixture.desktop.keyboard.chord([NEXT_GROUP]);
    await fixture.desktop.keyboard.chord([CAPS_LOCK]);
    const russian = await typeIntoTerminal(text);
    await fixture.desktop.keyboard.chord([CAPS_LOCK]);
    await fixture.desktop.keyboard.chord([NEXT_GROUP]);
    await fixture.run('setxkbmap', 'us', '-option', '');
    expect([french, russian]).toEqual([text, text]);
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
    await fixture.desktop.keyboard.down(CAPITAL_A);
    expect((await window.read()).map(({ kind, state }) => [kind, state])).toEqual([
      ['key', 0],
      ['key', 1],
    ]);
    await fixture.desktop.keyboard.releaseAll();
    expect((await window.read()).map(({ kind }) => kind)).toEqual(['keyUp', 'keyUp']);
    window.connection.close();
  });
});

describe('a keyboard', () => {
  /** A keyboard of its own connection, what it enters keys with, and what reads them. */
  const open = async (
    pass: () => Promise<void>,
    afterBatch: () => Promise<unknown>,
  ): Promise<{ keyboard: Keyboard; input: XInput; window: ProbeWindow }> => {
    const connection = await XConnection.open(fixture.session.display);
    const input = await XInput.open(connection);
    const sync = async (): Promise<void> => {
      await connection.sync();
      await afterBatch();
    };
    const window = await fixture.window(PLACE);
    await window.grabKeyboard();
    return { keyboard: new Keyboard(input, { pass, settle: pass }, sync), input, window };
  };
  const atOnce = (): Promise<void> => Promise.resolve();
  const pressed = async (window: ProbeWindow): Promise<readonly number[]> =>
    (await window.read()).filter(({ kind }) => kind === 'key').map(({ detail }) => detail);
  const keycodeOf = async (input: XInput, keysym: number): Promise<number> => {
    const { firstKeycode, width, keysyms } = await input.keyTable();
    return firstKeycode + Math.floor(keysyms.indexOf(keysym) / width);
  };

  it('types what follows by the keyboard map that a person has chosen meanwhile', async () => {
    let layout = 'us';
    const { keyboard, input, window } = await open(atOnce, () => fixture.run('setxkbmap', layout));
    const american = await keycodeOf(input, A);
    layout = 'fr';
    await keyboard.type('a'.repeat(70));
    const french = await keycodeOf(input, A);
    expect(french).not.toBe(american);
    expect(new Set((await pressed(window)).slice(-6))).toEqual(new Set([french]));
    await fixture.run('setxkbmap', 'us');
    window.connection.close();
  });

  it('locks capitals again although the text could not be entered to its end', async () => {
    const hangs = new Error('The program does not read.');
    const { keyboard, input, window } = await open(() => Promise.reject(hangs), atOnce);
    const capsLock = 2;
    input.lock(capsLock, true);
    const many = Array.from({ length: 300 }, (_, index) => String.fromCodePoint(0x5e00 + index)).join('');
    await expect(keyboard.type(many)).rejects.toBe(hangs);
    expect((await input.keyboardState()).locked & capsLock).toBe(capsLock);
    input.lock(capsLock, false);
    await fixture.run('setxkbmap', 'us');
    window.connection.close();
  });

  it('enters a capital with a key of its own where the keyboard map has no shift', async () => {
    const { keyboard, input, window } = await open(atOnce, atOnce);
    const shift = await keycodeOf(input, SHIFT);
    input.remap(new Map([[shift, 0]]));
    await keyboard.chord([CAPITAL_A]);
    const { firstKeycode, width, keysyms } = await input.keyTable();
    const entered = (await pressed(window)).map((code) => keysyms[(code - firstKeycode) * width]);
    expect(entered).toEqual([CAPITAL_A]);
    await fixture.run('setxkbmap', 'us');
    window.connection.close();
  });
});
