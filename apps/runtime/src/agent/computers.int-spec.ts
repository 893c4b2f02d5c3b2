import { planActions } from '@berth/contracts/computers';
import type { StartAgent } from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { WebSocket } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostFixture } from '../__fixtures__/host.fixture.js';
import { listPids, readStartVariable } from '../driver/process-table.js';
import { TransfersNatsController } from '../transfer/transfers.nats-controller.js';
import { agentFolders } from './agent-folders.js';

const SIZE = { width: 1_280, height: 800 };

let host: HostFixture;
afterEach(() => host.destroy());

const start = async (request: StartAgent = HostFixture.computer()): Promise<string> => {
  await host.agents.start(request);
  return request.agentId;
};

/** What a command prints, its errors too. */
const sh = async (agentId: string, command: string, epoch = 1): Promise<string> => {
  const request = { agentId, epoch, executionId: newId('exe'), cwd: null, env: {}, timeoutMs: 20_000 };
  const { stdout } = await host.executions.execute({
    ...request,
    command: `{ ${command}; } 2>&1`,
    wait: true,
  });
  return stdout?.trim() ?? '';
};

const WINDOW_MANAGER = 'xprop -root _NET_SUPPORTING_WM_CHECK';

describe('a computer on its host', () => {
  beforeEach(async () => {
    host = await HostFixture.open();
  });

  it('has a box like an agent, with a desktop on which commands run, and leaves no process', async () => {
    const agentId = await start();
    expect(host.agents.observed).toEqual([{ agentId, epoch: 1, state: 'running', idleTtlSeconds: 0 }]);
    expect(await host.driver.list()).toEqual([{ agentId, epoch: 1 }]);
    await eventually(async () => expect(await sh(agentId, WINDOW_MANAGER)).toMatch(/window id # 0x/));
    expect(await sh(agentId, 'test "$PWD" = "$HOME" && touch kept && id -u')).not.toBe('0');
    await host.agents.of(agentId).freeze({ agentId, epoch: 1 });
    await host.agents.of(agentId).thaw({ agentId, epoch: 2 });
    expect(await sh(agentId, `${WINDOW_MANAGER}; ls`, 2)).toMatch(/window id # 0x\S+\nkept$/);
    await host.agents.remove(agentId);
    expect(await host.driver.list()).toEqual([]);
    const marks = await Promise.all((await listPids()).map((pid) => readStartVariable(pid, 'BERTH_MARK')));
    expect(marks.filter((mark) => mark?.endsWith(agentId))).toEqual([]);
  });

  it('carries out actions, and shows its screen', async () => {
    const agentId = await start();
    const plan = planActions(
      { actions: [{ type: 'move', x: 12, y: 34 }, { type: 'cursor_position' }] },
      SIZE,
    );
    const done = await host.transfer(
      agentId,
      1,
      { kind: 'actions' },
      {
        method: 'POST',
        body: JSON.stringify(plan),
      },
    );
    expect(JSON.parse(await done.body.text())).toMatchObject({ cursor: { x: 12, y: 34 } });
    const image = await host.transfer(agentId, 1, {
      kind: 'screenshot',
      format: 'png',
      quality: 80,
      scale: 0.5,
    });
    expect(image.headers).toMatchObject({
      'content-type': 'image/png',
      'berth-width': '640',
      'berth-height': '400',
      'berth-captured-at': expect.stringMatching(/Z$/) as string,
    });
    const bytes = Buffer.from(await image.body.arrayBuffer());
    expect([bytes.readUInt32BE(16), bytes.readUInt32BE(20)]).toEqual([640, 400]);
  });

  it('is seen through sockets, which the order to close them ends and which wakes nobody', async () => {
    const agentId = await start();
    const controller = new TransfersNatsController(host.agents, host.transfers, host.dataPort);
    const view = async (sessionId: string): Promise<{ closed: Promise<unknown> }> => {
      const transfer = { kind: 'vnc', sessionId, mode: 'view', takeover: false } as const;
      const ticket = host.transfers.open({ agentId, epoch: 1, transfer });
      const socket = new WebSocket(host.dataPort.url.replace('http', 'ws'), {
        headers: { authorization: `Bearer ${ticket}` },
        protocols: 'binary',
      });
      const closed = new Promise((resolve) => socket.addEventListener('close', resolve));
      socket.binaryType = 'arraybuffer';
      const { data } = await new Promise<{ data: unknown }>((resolve) =>
        socket.addEventListener('message', resolve),
      );
      expect(Buffer.from(data as ArrayBuffer).toString()).toBe('RFB 003.008\n');
      return { closed };
    };
    const [one, two] = [await view('vws_1'), await view('vws_2')];
    await controller.closeViewers({ agentId, sessionIds: ['vws_1'] });
    await one.closed;
    await controller.closeViewers({ agentId, sessionIds: null });
    await two.closed;
    await host.agents.of(agentId).freeze({ agentId, epoch: 1 });
    await controller.closeViewers({ agentId, sessionIds: null });
    expect(host.agents.of(agentId).observed?.state).toBe('frozen');
  });
});

/** What a program sees that connects to the abstract socket of a display without its cookie. */
const KNOCK = `
const setup = Buffer.concat([Buffer.from([0x6c, 0, 11]), Buffer.alloc(9)]);
const socket = require('net').connect({ path: '\\0' + process.argv[1] });
socket.on('data', (answer) => { console.log('answer', answer[0]); process.exit(); }).write(setup);`;
const REFUSED = 'answer 0';

/** Whether a program can listen there itself. */
const TAKE = `
require('net').createServer().on('error', ({ code }) => console.log(code)).listen({ path: '\\0' + process.argv[1] });`;

describe.each([
  ['a folder of its own for temporary files', {}],
  ['only the folders of its host', { views: false }],
] as const)('a computer that sees %s', (_, features) => {
  beforeEach(async () => {
    host = await HostFixture.open({ features });
  });

  it.each([
    ['computer', HostFixture.computer],
    ['agent', () => HostFixture.recipe({ templateId: 'blank' })],
  ])('keeps its display, clipboard, VNC and home closed to another %s', async (__, other) => {
    const agentId = await start();
    const ask = 'echo $DISPLAY; dirname $XAUTHORITY; echo $HOME; pgrep -u $(id -u) -x Xvnc';
    const [display = '', runtime = '', home = '', server = ''] = (await sh(agentId, ask)).split('\n');
    const intruder = await start(other());
    const socket = `/tmp/.X11-unix/X${display.slice(1)}`;
    const anyone = `DISPLAY=${display} XAUTHORITY=/none xprop -root`;
    expect(await sh(intruder, anyone)).toMatch(/unable to open display/);
    expect(await sh(intruder, `node -e "${KNOCK}" ${socket}`)).toBe(REFUSED);
    // Programs connect there first, with the cookie, so nobody else may listen there.
    expect(await sh(intruder, `node -e "${TAKE}" ${socket}`)).toBe('EADDRINUSE');
    const seen = `/proc/${server}/root`;
    for (const path of [`${seen}${runtime}/authority`, `${seen}${runtime}/vnc`, `${seen}${home}`])
      expect(await sh(intruder, `ls ${path}`)).toMatch(/Permission denied/);
    for (const path of [`/proc/${server}/environ`, agentFolders(host.dataDir, agentId).root])
      expect(await sh(intruder, `cat ${path}`)).toMatch(/Permission denied|No such file/);
    if ('views' in features)
      for (const path of [`${runtime}/authority`, home])
        expect(await sh(intruder, `ls ${path}`)).toMatch(/Permission denied/);
  });
});
