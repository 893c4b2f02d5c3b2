import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { berth, dataFolder, type ServiceResponse } from './recording-service.fixture.js';

const id = newId('cmp');
const path = `/api/v1/computers/${id}`;
const done = { results: [], failedIndex: null, skipped: [], cursor: { x: 0, y: 0 }, durationMs: 1 };

describe('berth computers click, type and key', () => {
  it.each([
    [['click', id, '640', '400.5'], [{ type: 'click', x: 640, y: 400.5, button: 'left', clicks: 1 }]],
    [
      ['click', id, '1', '2', '--button', 'right', '--clicks', '2', '--keys', 'ctrl+shift'],
      [{ type: 'click', x: 1, y: 2, button: 'right', clicks: 2, keys: ['ctrl+shift'] }],
    ],
    [['type', id, 'Zoë 🚀'], [{ type: 'type', text: 'Zoë 🚀' }]],
    [['type', id, '--', '-x'], [{ type: 'type', text: '-x' }]],
    [
      ['key', id, 'ctrl+a', 'Delete', '--repeat', '2'],
      [
        { type: 'key', keys: ['ctrl+a'], repeat: 2 },
        { type: 'key', keys: ['Delete'], repeat: 2 },
      ],
    ],
  ])('send the actions of %j and print nothing', async (argv, actions) => {
    const result = await berth(['computers', ...argv], { respond: () => ({ status: 200, body: done }) });
    expect(result).toMatchObject({ exitCode: 0, out: '', err: '' });
    expect(result.seen).toMatchObject([{ method: 'POST', url: `${path}/actions`, body: { actions } }]);
  });

  it('exit 1 with the reason when an action failed, and print the results on request', async () => {
    const error = { code: 'display_lost', message: 'The display is gone.' };
    const body = { ...done, failedIndex: 0, results: [{ index: 0, type: 'type', ok: false, error }] };
    const result = await berth(['computers', 'type', id, 'x', '--json'], {
      respond: () => ({ status: 200, body }),
    });
    expect(result).toMatchObject({ exitCode: 1, err: 'berth: type: The display is gone. (display_lost)\n' });
    expect(JSON.parse(result.out)).toEqual(body);
  });

  it.each([
    ['click', id, '-1', '2'],
    ['click', id, '1', '2', '--clicks', '4'],
    ['click', id, '1', '2', '--button', 'side'],
    ['key', id],
  ])('exit 2 and send nothing for an invalid command line: %j', async (...argv) => {
    expect(await berth(['computers', ...argv])).toMatchObject({ exitCode: 2, seen: [] });
  });
});

describe('berth computers screenshot', () => {
  const image = Buffer.from('the image');
  const respond = (): ServiceResponse => ({
    status: 200,
    body: image,
    headers: { 'content-type': 'image/png' },
  });

  it('writes a file, in the format that its name says', async () => {
    const file = join(await dataFolder(), 'desk.jpg');
    const argv = ['computers', 'screenshot', id, '-o', file, '--scale', '0.5', '--quality', '60'];
    const { exitCode, out, seen } = await berth(argv, { respond, isTTY: true });
    expect([exitCode, out]).toEqual([0, '']);
    expect(seen[0]?.url).toBe(`${path}/screenshot?format=jpeg&quality=60&scale=0.5`);
    expect(await readFile(file)).toEqual(image);
  });

  it('goes into a pipe as it is', async () => {
    expect(await berth(['computers', 'screenshot', id], { respond })).toMatchObject({
      exitCode: 0,
      out: 'the image',
      seen: [{ url: `${path}/screenshot?format=png` }],
    });
  });

  it.each([
    [{ KITTY_WINDOW_ID: '1' }, `\u001B_Ga=T,f=100,m=0;${image.toString('base64')}\u001B\\\n`],
    [
      { TERM_PROGRAM: 'iTerm.app' },
      `\u001B]1337;File=inline=1;size=9;preserveAspectRatio=1:${image.toString('base64')}\u0007\n`,
    ],
  ])('is shown by a terminal that can, such as one with %j', async (env, shown) => {
    const result = await berth(['computers', 'screenshot', id], { respond, env, isTTY: true });
    expect(result).toMatchObject({ exitCode: 0, out: shown });
  });

  it.each([{}, { TERM_PROGRAM: 'iTerm.app', TMUX: '/tmp/tmux' }])(
    'is not requested for a terminal that cannot show it: %j',
    async (env) => {
      const result = await berth(['computers', 'screenshot', id], { respond, env, isTTY: true });
      expect(result).toMatchObject({ exitCode: 2, out: '', seen: [] });
      expect(result.err).toContain('Give -o FILE');
    },
  );

  it('prints what the API returns as JSON', async () => {
    const body = { format: 'png', width: 1, height: 1, data: 'AA==', capturedAt: '2026-11-21T08:00:00.000Z' };
    const { out } = await berth(['computers', 'screenshot', id, '--json'], {
      respond: () => ({ status: 200, body }),
    });
    expect(JSON.parse(out)).toEqual(body);
  });
});
