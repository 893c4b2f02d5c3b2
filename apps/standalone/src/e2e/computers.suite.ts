import { eventually } from '@berth/testing';
import { RfbClient } from '@berth/testing/rfb';
import { beforeAll, describe, expect, it } from 'vitest';
import { Api, codeOf } from './api.fixture.js';
import { Computer, refusalOf, sizeOfPng } from './computers.fixture.js';
import { processesNaming } from './processes.fixture.js';
import type { Stack } from './stack.fixture.js';

interface Viewer {
  readonly sessionId: string;
  readonly url: string;
  readonly socketUrl: string;
}

/** The life of a computer over HTTP, on a real desktop. */
export const describeComputers = (stack: () => Stack): void => {
  const api = new Api(stack);

  describe('a computer', () => {
    const display = { width: 1_024, height: 768 };
    let computer: Computer;
    beforeAll(async () => {
      computer = await Computer.create(api, stack, { name: 'desk', display });
    }, 90_000);

    it('is shown as it was created, alone and in the list, on every gateway', async () => {
      for (const gateway of stack().urls.keys()) {
        const { status, body } = await api.get(computer.path, { gateway });
        expect([status, body]).toEqual([
          200,
          {
            ...{ id: computer.id, externalUserId: null, name: 'desk', status: 'running', display },
            ...{ resources: { memMb: 2_048, vcpus: 2, diskGb: 10 }, idleTtlSeconds: 900 },
            createdAt: expect.any(String),
            lastActiveAt: expect.any(String),
            sleepAt: expect.any(String),
          },
        ]);
        const list = await api.get<{ items: { id: string }[] }>('/api/v1/computers', { gateway });
        expect(list.body.items.map(({ id }) => id)).toContain(computer.id);
      }
    });

    it('has a screenshot of the size of its display, as bytes and as JSON', async () => {
      const png = await computer.bytes('/screenshot');
      expect([png.status, png.type, sizeOfPng(png.body)]).toEqual([200, 'image/png', display]);
      const half = await api.get(`${computer.path}/screenshot?format=jpeg&scale=0.5`, {
        headers: { accept: 'application/json' },
      });
      expect(half.body).toMatchObject({ format: 'jpeg', width: 512, height: 384 });
    });

    it('runs commands as a user of its own with its display and its home folder', async () => {
      const [uid, shown = '', home = ''] = (
        await computer.run('id -u; echo $DISPLAY; echo $HOME; pwd')
      ).split('\n');
      expect(Number(uid)).toBeGreaterThan(0);
      expect(shown).toMatch(/^:\d+$/);
      expect(home).toMatch(/^\//);
      expect(await computer.run('xprop -root _NET_SUPPORTING_WM_CHECK')).toContain('0x');
    });

    it('types into the window that was clicked what is then in its files', async () => {
      await computer.openTerminal('cat > typed.txt');
      const text = 'Zoë Müller — 東京 ~"\\';
      const { status, body } = await computer.act(
        { type: 'click', x: 200, y: 200 },
        { type: 'type', text: `${text}\n` },
        { type: 'key', keys: ['ctrl', 'd'] },
        { type: 'cursor_position' },
      );
      expect([status, body.failedIndex, body.skipped, body.cursor]).toEqual([
        200,
        null,
        [],
        { x: 200, y: 200 },
      ]);
      expect(body.results.map(({ type, ok }) => [type, ok])).toEqual([
        ['click', true],
        ['type', true],
        ['key', true],
        ['cursor_position', true],
      ]);
      expect(await computer.wrote('typed.txt')).toBe(`${text}\n`);
    });

    it('answers a block and an item of a model in their own forms', async () => {
      const { body } = await computer.act(
        {
          type: 'tool_use',
          id: 'toolu_1',
          name: 'computer',
          input: { action: 'mouse_move', coordinate: [30, 40] },
        },
        { type: 'computer_call', call_id: 'call_1', action: { type: 'wait' }, status: 'completed' },
      );
      expect(body.results.map(({ output }) => output)).toMatchObject([
        {
          type: 'tool_result',
          tool_use_id: 'toolu_1',
          content: [{ type: 'text', text: 'Moved the mouse.' }],
        },
        {
          type: 'computer_call_output',
          call_id: 'call_1',
          output: {
            type: 'computer_screenshot',
            image_url: expect.stringMatching(/^data:image\/png;base64,/),
          },
        },
      ]);
    });

    it('does nothing of a request with an action that is not valid', async () => {
      const refused = await computer.act(
        { type: 'move', x: 1, y: 1 },
        { type: 'click', x: display.width, y: 0 },
      );
      expect([refused.status, refused.body]).toMatchObject([
        400,
        { detail: { code: 'invalid_action', fields: [{ path: 'actions[1].x' }] } },
      ]);
      expect((await computer.act({ type: 'cursor_position' })).body.cursor).toEqual({ x: 30, y: 40 });
    });

    it('takes and returns files, parents created', async () => {
      const content = Buffer.from([0, 255, 10, 13, 0]);
      const put = await computer.bytes('/files?path=deep/er/data.bin', { method: 'PUT', body: content });
      expect([put.status, JSON.parse(put.body.toString())]).toMatchObject([
        200,
        { ok: true, name: 'data.bin', size: 5 },
      ]);
      expect((await computer.bytes('/files?path=deep/er/data.bin')).body.equals(content)).toBe(true);
      const { body } = await api.get<{ entries: object[] }>(`${computer.path}/files/list?path=deep/er`);
      expect(body.entries).toMatchObject([{ name: 'data.bin', isDir: false, size: 5 }]);
    });

    it('is seen through a viewer session by RFB, once', async () => {
      const { status, body } = await api.post<Viewer>(`${computer.path}/viewer`, {});
      expect([status, body]).toMatchObject([201, { mode: 'view', takeover: false }]);
      expect((await fetch(body.url)).headers.get('content-type')).toContain('text/html');
      const client = await RfbClient.overWebSocket(body.socketUrl);
      expect(client).toMatchObject({ greeting: 'RFB 003.008\n', securityTypes: [1], display });
      const { body: sessions } = await api.get(`${computer.path}/sessions`);
      expect(sessions).toMatchObject({ items: [{ sessionId: body.sessionId, status: 'open' }] });
      expect(await refusalOf(body.socketUrl)).toEqual({ status: 403, code: 'session_used' });
      client.close();
      await client.closed;
      await eventually(async () =>
        expect((await api.get(`${computer.path}/sessions`)).body).toEqual({ items: [] }),
      );
    });

    it('refuses actions while a person has taken it over', async () => {
      const viewer = { mode: 'control', takeover: true };
      const { body } = await api.post<Viewer>(`${computer.path}/viewer`, viewer);
      const person = await RfbClient.overWebSocket(body.socketUrl);
      const refused = await computer.act({ type: 'move', x: 5, y: 5 });
      expect([refused.status, codeOf(refused as never)]).toEqual([409, 'taken_over']);
      expect((await computer.bytes('/screenshot')).status).toBe(200);
      const { body: ended } = await api.post(`${computer.path}/sessions/close`, {
        sessionId: body.sessionId,
      });
      expect(ended).toEqual({ closed: 1 });
      await person.closed;
      await eventually(async () =>
        expect((await computer.act({ type: 'move', x: 5, y: 5 })).status).toBe(200),
      );
    });

    it('sleeps, and an action wakes it with its files', async () => {
      await computer.run('echo kept > kept.txt');
      const slept = await api.post(`${computer.path}/sleep`);
      expect([slept.status, slept.body]).toMatchObject([200, { status: 'sleeping' }]);
      expect((await computer.act({ type: 'cursor_position' })).status).toBe(200);
      expect((await computer.inStatus('running')).status).toBe('running');
      expect(await computer.wrote('kept.txt')).toBe('kept\n');
    });

    it('is gone after its deletion, with every process', async () => {
      const processes = () => processesNaming([computer.id]).map(({ command }) => command);
      for (const program of ['Xvnc', 'openbox', 'tint2'])
        expect(processes()).toContainEqual(expect.stringContaining(program));
      expect((await api.call('DELETE', computer.path)).status).toBe(204);
      for (const gateway of stack().urls.keys()) {
        const gone = await api.get(computer.path, { gateway });
        expect([gone.status, codeOf(gone)]).toEqual([404, 'computer_not_found']);
      }
      await eventually(() => expect(processes()).toEqual([]));
    });
  });
};
