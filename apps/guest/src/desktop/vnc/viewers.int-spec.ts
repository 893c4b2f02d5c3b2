import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ComputerFixture } from '../__fixtures__/computer.fixture.js';
import type { ProbeWindow } from '../__fixtures__/desktop.fixture.js';
import type { RfbClient } from '../__fixtures__/rfb-client.fixture.js';

const PLACE = { x: 100, y: 100, width: 600, height: 400 };
const PART = { x: 110, y: 110, width: 20, height: 10 };
const LETTER_A = 0x61;
const EXTENDED_CLIPBOARD = -1_063_131_698;

let computer: ComputerFixture;
let window: ProbeWindow;
beforeAll(async () => {
  computer = await ComputerFixture.open();
  window = await computer.window(PLACE);
  await window.grabKeyboard();
});
beforeEach(async () => {
  await computer.closeViewers(null);
  await computer.act({ type: 'move', x: 10, y: 10 });
  await window.read();
});
afterAll(() => computer.close());

const clipboard = async (): Promise<string> => {
  const [unit] = (await computer.act({ type: 'clipboard_get' })).units;
  return unit?.seen?.kind === 'text' ? unit.seen.text : '';
};

/** Everything that a client can do, and then a look at the screen, which the server answers behind all of it. */
const doAll = async (client: RfbClient): Promise<Buffer> => {
  client.encodings(0, EXTENDED_CLIPBOARD);
  client.pointer(200, 200, 1);
  client.pointer(200, 200, 0);
  client.key(LETTER_A);
  client.cutText('from a viewer');
  // Changes the size of the screen.
  client.send([251, 0, 3, 0, 2, 0, 1, 0], Buffer.alloc(16));
  // A key as QEMU has it.
  client.send([255, 0, 0, 1], Buffer.from([0, 0, 0, LETTER_A, 0, 0, 0, 30]));
  return client.screen(PART);
};

describe('a viewer that only looks', () => {
  it('sees the screen, and what its keys, pointer and clipboard do is dropped', async () => {
    await computer.act({ type: 'clipboard_set', text: 'before' });
    const viewer = await computer.view('vws_1', 'view');
    expect([viewer.width, viewer.height]).toEqual([1_280, 800]);
    await window.paint(0x123456);
    const pixels = await doAll(viewer);
    expect(pixels.subarray(0, 3)).toEqual(Buffer.from([0x56, 0x34, 0x12]));
    expect(await window.read()).toEqual([]);
    expect((await computer.act({ type: 'cursor_position' })).cursor).toEqual({ x: 10, y: 10 });
    expect(await clipboard()).toBe('before');
  });

  it('gets nothing of the clipboard', async () => {
    const viewers = [await computer.view('vws_1', 'view'), await computer.view('vws_2', 'control')];
    const [looks, acts] = viewers;
    await computer.act({ type: 'clipboard_set', text: 'a secret' });
    expect(await acts?.cutTextOfServer()).toBe('a secret');
    await looks?.screen(PART);
    expect(looks?.unread).toBe(0);
  });

  it.each([
    ['a message of a type that is not known', [99, 0, 0, 0]],
    ['a sound that it wants', [255, 7, 0, 0]],
  ])('is ended by %s, and nothing else is', async (_, message) => {
    const other = await computer.view('vws_1', 'view');
    const viewer = await computer.view('vws_2', 'view');
    viewer.send(message);
    expect(await viewer.closed).toBe(1002);
    expect(await other.screen(PART)).toHaveLength(800);
  });
});

describe('a viewer in control', () => {
  it('has keys, pointer and clipboard pass', async () => {
    const viewer = await computer.view('vws_1', 'control');
    viewer.pointer(200, 200, 1);
    viewer.pointer(200, 200, 0);
    viewer.key(LETTER_A);
    viewer.cutText('from a viewer');
    await viewer.screen(PART);
    const events = (await window.read()).map(({ kind, x, y }) => [kind, x, y]);
    expect(events).toEqual(
      expect.arrayContaining([
        ['button', 200, 200],
        ['buttonUp', 200, 200],
        ['key', 200, 200],
        ['keyUp', 200, 200],
      ]),
    );
    await expect.poll(clipboard).toBe('from a viewer');
  });

  it.each(['by its client', 'by its session', 'by garbage'])(
    'leaves no mouse button down when it is ended %s',
    async (how) => {
      const viewer = await computer.view('vws_1', 'control', true);
      viewer.pointer(200, 200, 1);
      await viewer.screen(PART);
      if (how === 'by its client') viewer.socket.terminate();
      else if (how === 'by its session') await computer.closeViewers(['vws_1']);
      else viewer.send(Buffer.alloc(10_000, 0xee));
      await viewer.closed;
      // It is given back only then.
      await expect
        .poll(() => computer.begin({ type: 'click', x: 300, y: 300 }).reply)
        .toMatchObject({ status: 200 });
      const buttons = (await window.read()).filter(({ kind }) => kind.startsWith('button'));
      expect(buttons.map(({ kind, x }) => [kind, x])).toEqual([
        ['button', 200],
        ['buttonUp', 200],
        ['button', 300],
        ['buttonUp', 300],
      ]);
    },
  );

  it('leaves the buttons down that actions and other viewers hold', async () => {
    const [first, second] = [
      await computer.view('vws_1', 'control'),
      await computer.view('vws_2', 'control'),
    ];
    await computer.act({ actions: [{ type: 'move', x: 200, y: 200 }, { type: 'mouse_down' }] });
    second.pointer(210, 200, 4);
    await second.screen(PART);
    await first.close();
    await (await computer.view('vws_3', 'control')).close();
    const held = (await window.read()).filter(({ kind }) => kind.startsWith('button'));
    expect(held.map(({ kind, detail }) => [kind, detail])).toEqual([
      ['button', 1],
      ['button', 3],
    ]);
    second.pointer(210, 200, 0);
    await second.screen(PART);
    await computer.act({ type: 'mouse_up' });
    expect((await window.read()).map(({ kind }) => kind)).toEqual(['buttonUp', 'buttonUp']);
  });

  it('is ended by garbage, and nothing else is', async () => {
    const other = await computer.view('vws_1', 'view');
    const viewer = await computer.view('vws_2', 'control');
    viewer.send(Buffer.alloc(10_000, 0xee));
    await viewer.closed;
    expect(await other.screen(PART)).toHaveLength(800);
  });
});

describe('viewers', () => {
  it('all see the screen when many come at once', async () => {
    const all = await Promise.all(
      Array.from({ length: 50 }, (_, index) => computer.view(`vws_${index}`, 'view')),
    );
    for (const viewer of all) expect(await viewer.screen(PART)).toHaveLength(800);
  });

  it('are ended by their session, or all at once', async () => {
    const first = await computer.view('vws_1', 'view');
    const second = await computer.view('vws_2', 'control');
    await computer.closeViewers(['vws_1', 'vws_unknown']);
    expect(await first.closed).toBe(1001);
    expect(await second.screen(PART)).toHaveLength(800);
    await computer.closeViewers(null);
    expect(await second.closed).toBe(1001);
  });

  it.each([1, 3])(
    'that take over fail the action under way and skip the rest (of %s batches)',
    async (batches) => {
      const waits = {
        actions: [
          { type: 'wait', ms: 60_000 },
          { type: 'move', x: 1, y: 1 },
        ],
        stopOnError: false,
      };
      const under = Array.from({ length: batches }, () => computer.act(waits));
      const watcher = await computer.view('vws_1', 'view');
      const person = await computer.view('vws_2', 'control', true);
      for (const outcome of await Promise.all(under)) {
        expect(outcome.units).toEqual([
          { error: { code: 'taken_over', message: expect.any(String) as string }, seen: null },
        ]);
        expect(outcome.cursor).toEqual({ x: 10, y: 10 });
      }
      expect(await computer.refusal({ type: 'move', x: 1, y: 1 })).toMatchObject({
        kind: 'conflict',
        code: 'taken_over',
      });
      expect(await watcher.screen(PART)).toHaveLength(800);
      await person.close();
      await expect
        .poll(() => computer.act({ type: 'move', x: 20, y: 20 }).then(({ cursor }) => cursor))
        .toEqual({ x: 20, y: 20 });
    },
  );

  it('that take over have the keys and buttons let go that the action under way holds', async () => {
    const holding = computer.act({ action: 'hold_key', text: 'ctrl', duration: 20 });
    const kinds: string[] = [];
    const seen = async (): Promise<readonly string[]> => {
      kinds.push(...(await window.read()).map(({ kind }) => kind));
      return kinds;
    };
    await expect.poll(seen).toEqual(['key']);
    await computer.view('vws_1', 'control', true);
    expect((await holding).units).toMatchObject([{ error: { code: 'taken_over' } }]);
    expect(await seen()).toEqual(['key', 'keyUp']);
  });

  it('that only look never take over', async () => {
    await computer.view('vws_1', 'view', true);
    expect((await computer.act({ type: 'move', x: 30, y: 30 })).cursor).toEqual({ x: 30, y: 30 });
  });
});
