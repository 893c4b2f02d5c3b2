import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { berth, dataFolder } from './recording-service.fixture.js';

const id = newId('cmp');
const viewer = {
  ...{
    sessionId: 'vws_1',
    url: 'http://viewer.test/v/secret/',
    socketUrl: 'ws://viewer.test/v/secret/socket',
  },
  ...{ mode: 'view', takeover: false, expiresAt: '2026-11-21T08:00:00.000Z' },
};
const respond = () => ({ status: 201, body: viewer });

/** A folder whose `xdg-open` writes down what it opens. */
const browserIn = async (): Promise<string> => {
  const folder = await dataFolder();
  const opener = join(folder, process.platform === 'darwin' ? 'open' : 'xdg-open');
  await writeFile(
    opener,
    `#!/bin/sh\necho "$1" > ${folder}/opened.part && mv ${folder}/opened.part ${folder}/opened\n`,
  );
  await chmod(opener, 0o755);
  return folder;
};

describe('berth computers view', () => {
  it.each([
    [[], { mode: 'view', takeover: false }],
    [['--control', '--ttl', '60'], { mode: 'control', takeover: false, ttlSeconds: 60 }],
    [['--takeover'], { mode: 'control', takeover: true }],
  ])('makes a session with %j and prints its URL', async (flags, body) => {
    const { out, seen } = await berth(['computers', 'view', id, ...flags], { respond });
    expect(out).toBe(`${viewer.url}\n`);
    expect(seen).toMatchObject([{ method: 'POST', url: `/api/v1/computers/${id}/viewer` }]);
    expect(seen[0]?.body).toEqual(body);
  });

  it('opens the page in a browser from a terminal with a display', async () => {
    const folder = await browserIn();
    const env = { PATH: `${folder}:/usr/bin:/bin`, DISPLAY: ':0' };
    await berth(['computers', 'view', id], { respond, env, isTTY: true });
    expect(await eventually(() => readFile(join(folder, 'opened'), 'utf8'))).toBe(`${viewer.url}\n`);
  });

  it('prints the session as JSON', async () => {
    const { out } = await berth(['computers', 'view', id, '--json'], { respond });
    expect(JSON.parse(out)).toEqual(viewer);
  });
});
