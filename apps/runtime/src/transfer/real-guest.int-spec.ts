import { randomBytes } from 'node:crypto';
import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import type { FileCommand, Transfer } from '@berth/contracts/runtime';
import { newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { WebSocket, type Dispatcher } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { HostFixture } from '../__fixtures__/host.fixture.js';
import { agentFolders } from '../agent/agent-folders.js';

const held = { epoch: 1, cwd: null, env: {}, timeoutMs: 60_000, wait: false };
const LIMIT = 100 * 1024 * 1024;

describe('between a client and an agent', () => {
  let host: HostFixture;
  let agentId: string;

  beforeEach(async () => {
    host = await HostFixture.open();
    const recipe = HostFixture.recipe({ templateId: 'blank' });
    await host.agents.start(recipe);
    ({ agentId } = recipe);
  });

  afterEach(() => host.destroy());

  const inVolume = (name: string): string => join(agentFolders(host.dataDir, agentId).volume, name);

  const refusalOf = async (response: Dispatcher.ResponseData): Promise<unknown> => {
    expect(response.statusCode).toBe(422);
    return ((await response.body.json()) as { error: unknown }).error;
  };

  it('output is followed live until a sleep ends the execution', async () => {
    const executionId = newId('exe');
    const command = 'echo one; until [ -e go ]; do sleep 0.02; done; echo two; sleep 1000';
    await host.executions.execute({ ...held, agentId, executionId, command });
    const response = await host.transfer(agentId, 1, { kind: 'output', executionId });
    expect(response.headers['content-type']).toBe('application/x-ndjson');
    const lines: unknown[] = [];
    createInterface({ input: response.body }).on('line', (line) => lines.push(JSON.parse(line)));
    await eventually(() => expect(lines).toEqual([{ stream: 'stdout', text: 'one\n' }]));
    writeFileSync(inVolume('go'), '');
    await eventually(() => expect(lines).toHaveLength(2));
    await host.agents.of(agentId).freeze({ agentId, epoch: 1 });
    await eventually(() =>
      expect(lines).toEqual([
        { stream: 'stdout', text: 'one\n' },
        { stream: 'stdout', text: 'two\n' },
        { stream: 'end' },
      ]),
    );
  });

  it('the output of a silent command can be followed: the response begins before the output', async () => {
    const executionId = newId('exe');
    await host.executions.execute({ ...held, agentId, executionId, command: 'sleep 1000' });
    const response = await host.transfer(agentId, 1, { kind: 'output', executionId });
    expect(response.statusCode).toBe(200);
    response.body.destroy();
  });

  const change = (command: FileCommand): Promise<unknown> => host.changeFile({ agentId, epoch: 1, command });

  const download = (path: string, more: Partial<Extract<Transfer, { kind: 'download' }>> = {}): Transfer => ({
    kind: 'download',
    path,
    within: 'agent',
    limitBytes: LIMIT,
    ...more,
  });

  it('a folder is listed, and an invalid one is rejected', async () => {
    mkdirSync(inVolume('d'));
    writeFileSync(inVolume('f'), 'hello');
    const list = await host.transfer(agentId, 1, { kind: 'list', path: null });
    expect(await list.body.json()).toMatchObject({
      entries: [
        { name: 'd', isDir: true, size: 0 },
        { name: 'f', isDir: false, size: 5 },
      ],
    });
    const missing = await host.transfer(agentId, 1, { kind: 'list', path: 'nowhere' });
    expect(await refusalOf(missing)).toMatchObject({ kind: 'not_found', code: 'path_not_found' });
  });

  it('a file is stored whole and returned byte for byte, in ranges or only when it has changed', async () => {
    const bytes = randomBytes(3_000_001);
    const stagedId = newId('cmd');
    const staged = await host.transfer(
      agentId,
      1,
      { kind: 'stage', stagedId, limitBytes: LIMIT },
      { method: 'PUT', body: bytes },
    );
    expect(await staged.body.json()).toEqual({ stagedId, size: bytes.length });
    const target = { kind: 'path', path: 'new/f' } as const;
    expect(await change({ op: 'commit', stagedId, target })).toMatchObject({ name: 'f', size: bytes.length });
    const whole = await host.transfer(agentId, 1, download('new/f'));
    expect(whole.headers['content-length']).toBe(String(bytes.length));
    expect(Buffer.from(await whole.body.arrayBuffer()).equals(bytes)).toBe(true);
    const part = await host.transfer(agentId, 1, download('new/f'), { headers: { range: 'bytes=5-9' } });
    expect(part).toMatchObject({
      statusCode: 206,
      headers: { 'content-range': `bytes 5-9/${bytes.length}`, 'content-length': '5' },
    });
    expect(Buffer.from(await part.body.arrayBuffer()).equals(bytes.subarray(5, 10))).toBe(true);
    const etag = String(whole.headers['etag']);
    const same = await host.transfer(agentId, 1, download('new/f'), { headers: { 'if-none-match': etag } });
    expect(same.statusCode).toBe(304);
    const beyond = await host.transfer(agentId, 1, download('new/f'), {
      headers: { range: 'bytes=9000000-' },
    });
    expect(beyond).toMatchObject({
      statusCode: 416,
      headers: { 'content-range': `bytes */${bytes.length}` },
    });
    const head = await host.transfer(agentId, 1, download('new/f'), { method: 'HEAD' });
    expect(head).toMatchObject({
      statusCode: 200,
      headers: { 'content-length': String(bytes.length), etag },
    });
  });

  it('a file above its limit is rejected before its first byte, and an interrupted one leaves nothing', async () => {
    writeFileSync(inVolume('f'), Buffer.alloc(1_001));
    const tooLarge = { kind: 'too_large', code: 'payload_too_large' };
    expect(
      await refusalOf(await host.transfer(agentId, 1, download('f', { limitBytes: 1_000 }))),
    ).toMatchObject(tooLarge);
    const stage = { kind: 'stage', stagedId: newId('cmd'), limitBytes: 1_000 } as const;
    const put = await host.transfer(agentId, 1, stage, { method: 'PUT', body: Buffer.alloc(1_001) });
    expect(await refusalOf(put)).toMatchObject(tooLarge);
    const broken = Readable.from(
      (function* () {
        yield Buffer.alloc(10);
        throw new Error('the client is gone');
      })(),
    );
    await expect(host.transfer(agentId, 1, stage, { method: 'PUT', body: broken })).rejects.toThrow();
    const target = { kind: 'path', path: 'never' } as const;
    await expect(change({ op: 'commit', stagedId: stage.stagedId, target })).rejects.toMatchObject({
      code: 'staged_file_unknown',
    });
  });

  it('folders and files are changed, and errors arrive complete', async () => {
    expect(await change({ op: 'mkdir', path: 'a/b' })).toMatchObject({ name: 'b', size: 0 });
    expect(await change({ op: 'move', from: 'a', to: 'c' })).toMatchObject({ name: 'c' });
    expect(statSync(inVolume('c/b')).isDirectory()).toBe(true);
    expect(host.activities.get(agentId)).toMatchObject({ lastActivityKind: 'file' });
    await expect(change({ op: 'delete', path: '../x' })).rejects.toMatchObject({
      kind: 'invalid',
      code: 'path_outside_volume',
    });
    await expect(
      host.changeFile({ agentId, epoch: 2, command: { op: 'mkdir', path: 'n' } }),
    ).rejects.toMatchObject({
      code: 'stale_epoch',
    });
  });

  it('a terminal works over a WebSocket', async () => {
    const ticket = host.transfers.open({
      agentId,
      epoch: 1,
      transfer: { kind: 'console', cols: 80, rows: 24 },
    });
    const socket = new WebSocket(host.dataPort.url.replace('http', 'ws'), {
      headers: { authorization: `Bearer ${ticket}` },
    });
    socket.binaryType = 'arraybuffer';
    let seen = '';
    socket.addEventListener(
      'message',
      ({ data }) => (seen += Buffer.from(data as ArrayBuffer).toString('utf8')),
    );
    const closed = new Promise((resolve) => socket.addEventListener('close', resolve));
    await new Promise((resolve) => socket.addEventListener('open', resolve));
    socket.send(Buffer.from('echo $((6 * 7))\n'));
    await eventually(() => seen.includes('42'));
    await host.agents.of(agentId).freeze({ agentId, epoch: 1 });
    await closed;
  });
});
