import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { ComputerFixture } from '../__fixtures__/computer.fixture.js';
import { createHiddenWindow, internAtom } from '../x11/x-connection.js';
import { packRequest, u32 } from '../x11/x-packing.js';
import { readPng, type ProbeEvent, type ProbeWindow } from '../__fixtures__/desktop.fixture.js';

const PLACE = { x: 100, y: 100, width: 600, height: 400 };

let computer: ComputerFixture;
let window: ProbeWindow;
beforeAll(async () => {
  computer = await ComputerFixture.open();
  window = await computer.window(PLACE);
  await window.grabKeyboard();
});
beforeEach(async () => {
  await computer.act({ type: 'move', x: 10, y: 10 });
  await window.read();
});
afterAll(() => computer.close());

const events = async (...kinds: readonly ProbeEvent['kind'][]): Promise<readonly ProbeEvent[]> =>
  (await window.read()).filter(({ kind }) => kinds.includes(kind));
const clip = (text: string): object => ({ type: 'clipboard_set', text });
/** Takes the clipboard and hands it to nobody, so that reading it fails. */
const spoilClipboard = async (): Promise<void> => {
  const owner = await computer.connect();
  const name = await internAtom(owner, 'CLIPBOARD');
  owner.send(packRequest(22, 0, u32(createHiddenWindow(owner, 0), name, 0)));
  await owner.sync();
};

describe('a batch', () => {
  it('does its actions in order and says what each found out', async () => {
    const outcome = await computer.act({
      actions: [
        { type: 'click', x: 150, y: 160, button: 'right', clicks: 2 },
        { type: 'cursor_position' },
        clip('Grüße 😀'),
        { type: 'clipboard_get' },
        { action: 'zoom', region: [100, 100, 200, 150] },
      ],
      screenshot: true,
      scale: 0.5,
    });
    expect(outcome).toMatchObject({
      units: [
        { error: null, seen: null },
        { error: null, seen: { kind: 'position', x: 300, y: 320 } },
        { error: null, seen: null },
        { error: null, seen: { kind: 'text', text: 'Grüße 😀' } },
        { error: null, seen: { kind: 'image', image: { format: 'png', width: 640, height: 320 } } },
      ],
      cursor: { x: 300, y: 320 },
      closing: { format: 'png', width: 640, height: 400 },
    });
    expect((await events('button')).map(({ detail, x, y }) => [detail, x, y])).toEqual([
      [3, 300, 320],
      [3, 300, 320],
    ]);
  });

  it('types, holds keys during an action, scrolls and drags as a person does', async () => {
    await computer.act({
      actions: [
        { type: 'type', text: 'a\r\nb' },
        { type: 'click', x: 200, y: 200, keys: ['ctrl'] },
        { type: 'scroll', x: 200, y: 200, dy: -150, dx: 100 },
      ],
    });
    const all = await window.read();
    expect(all.filter(({ kind }) => kind === 'key')).toHaveLength(4);
    const pressed = all.filter(({ kind }) => kind === 'button');
    expect(pressed.map(({ detail }) => detail)).toEqual([1, 4, 4, 7]);
    expect(pressed[0]?.state).toBe(4);
    await computer.act({
      action: 'left_click_drag',
      start_coordinate: [150, 150],
      coordinate: [350, 150],
    });
    await computer.act({
      actions: [
        { action: 'mouse_move', coordinate: [150, 150] },
        { action: 'left_mouse_down' },
        { action: 'mouse_move', coordinate: [350, 150] },
        { action: 'left_mouse_up' },
      ],
    });
    const drags = await events('button', 'motion', 'buttonUp');
    expect(drags.filter(({ kind, state }) => kind === 'motion' && state === 256).length).toBeGreaterThan(8);
  });

  it('lets the keys go that it holds when it ends, and leaves mouse buttons as they are', async () => {
    await computer.act({
      actions: [{ type: 'key_down', key: 'ctrl' }, { type: 'move', x: 200, y: 200 }, { type: 'mouse_down' }],
    });
    const kinds = (await events('key', 'keyUp', 'button', 'buttonUp')).map(({ kind }) => kind);
    expect(kinds).toEqual(['key', 'button', 'keyUp']);
    await computer.act({ type: 'mouse_up' });
    expect((await events('buttonUp')).map(({ detail }) => detail)).toEqual([1]);
  });

  it('leaves a key that was held before down after an action that holds it too', async () => {
    await computer.act({
      actions: [
        { type: 'key_down', key: 'ctrl' },
        { type: 'click', x: 200, y: 200, keys: ['ctrl', 'shift'] },
        { type: 'click', x: 201, y: 200 },
      ],
    });
    expect((await events('button')).map(({ state }) => state)).toEqual([5, 4]);
  });

  it('answers with an empty line each second until its outcome is known', async () => {
    const { reply } = computer.begin({ type: 'wait', ms: 2_300 });
    const text = String((await reply).body);
    expect(text).toMatch(/^\n\n\{.*\}\n$/);
  });

  it('goes on after a caller that hangs up', async () => {
    const { request, responded } = computer.begin({
      actions: [{ type: 'wait', ms: 300 }, clip('after the caller')],
    });
    await responded;
    request.destroy();
    expect((await computer.act({ type: 'clipboard_get' })).units).toMatchObject([
      { seen: { text: 'after the caller' } },
    ]);
  });

  it('waits with its closing image until the screen is still', async () => {
    const small = { x: 150, y: 150, width: 4, height: 4 };
    const startedAt = performance.now();
    const acting = computer.act({ actions: [{ type: 'move', x: 10, y: 10 }], screenshot: true });
    let colour = 1;
    while (performance.now() - startedAt < 900) {
      await window.paint((colour += 17));
      await window.connection.sync();
    }
    await window.paint(0xabcdef);
    const { closing } = await acting;
    const image = readPng(Buffer.from(closing?.data ?? '', 'base64'));
    expect(image.at(small.x, small.y)).toBe(0xabcdef);
  });
});

describe('after an action that fails', () => {
  const CALL = { type: 'computer_call', call_id: 'call_1', actions: [{ type: 'move', x: 400, y: 400 }] };

  it('the rest of a batch is left out, the keys are let go, and items that were skipped see the screen', async () => {
    await spoilClipboard();
    const outcome = await computer.act({
      actions: [
        { type: 'key_down', key: 'ctrl' },
        { type: 'clipboard_get' },
        { type: 'move', x: 300, y: 300 },
        CALL,
      ],
    });
    expect(outcome).toMatchObject({
      units: [{ error: null }, { error: { code: 'clipboard_unresponsive' }, seen: null }],
      cursor: { x: 10, y: 10 },
      closing: { width: 1_280, height: 800 },
    });
    expect((await events('key', 'keyUp')).map(({ kind }) => kind)).toEqual(['key', 'keyUp']);
  });

  it('a batch that is not to stop goes on', async () => {
    await spoilClipboard();
    const actions = [{ type: 'clipboard_get' }, CALL];
    expect(await computer.act({ actions, stopOnError: false })).toMatchObject({
      units: [
        { error: { code: 'clipboard_unresponsive' } },
        { error: null, closing: { width: 1_280, height: 800 } },
      ],
      cursor: { x: 400, y: 400 },
      closing: null,
    });
  });
});

describe('batches of one computer', () => {
  it('run one at a time in order of arrival, and of 102 the last is refused', async () => {
    const first = computer.begin({ actions: [clip('first'), { type: 'wait', ms: 1_500 }] });
    await first.responded;
    const waiting = Array.from({ length: 100 }, (_, index) =>
      computer.begin({ actions: [{ type: 'clipboard_get' }, clip(String(index))] }),
    );
    await Promise.all(waiting.map(({ responded }) => responded));
    expect(await computer.refusal({ type: 'wait', ms: 1 })).toMatchObject({
      kind: 'exhausted',
      code: 'too_many_batches',
    });
    const outcomes = await Promise.all(waiting.map(({ reply }) => reply));
    const seen = outcomes.map(({ body }) => /"text":"([^"]*)"/.exec(String(body))?.[1]);
    expect(seen).toEqual(['first', ...Array.from({ length: 99 }, (_, index) => String(index))]);
  });
});
