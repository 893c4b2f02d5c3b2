import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { once } from 'node:events';
import { filesRequests } from '@berth/contracts/files';
import { DomainError, newId } from '@berth/kernel';
import { eventually } from '@berth/testing';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { refuse } from '../fixtures/data-port.fixture.js';
import { TestFiles } from '../fixtures/test-files.fixture.js';
import { anAgent } from '../fixtures/test-services.fixture.js';
import { startTestGateway, type TestGateway } from '../fixtures/gateway.fixture.js';

const CAP = 104_857_600;

let test: TestGateway;
let files: TestFiles;
const agent = anAgent();
const WRITE = `/api/agents/${agent.id}/files/write`;

beforeAll(async () => {
  test = await startTestGateway();
  test.services.reset();
  files = await TestFiles.start(test.services);
});
afterAll(async () => {
  await test.stop();
  await files.stop();
});
beforeEach(async () => {
  test.services.reset();
  test.services.agents.set(agent.id, agent);
  await files.reset();
});

const write = (body: string | Uint8Array<ArrayBuffer>, type = 'application/json') =>
  test.call('PUT', WRITE, { key: test.services.key(), body, headers: { 'content-type': type } });

const nothingIsLeft = async (): Promise<void> => {
  await eventually(async () => expect([await files.stagedFiles(), files.port.open]).toEqual([[], 0]));
};

describe('write', () => {
  it('writes the text, with members in any order', async () => {
    const first = await write('{"path":"a/b.txt","content":"line\\n\\ud83d\\ude00","else":[1]}');
    expect([first.status, first.body]).toEqual([200, { ok: true, path: files.at('a/b.txt'), size: 9 }]);
    expect(await readFile(files.at('a/b.txt'), 'utf8')).toBe('line\n😀');
    expect((await write('{"content":"","path":"a/b.txt"}')).body['size']).toBe(0);
    expect(await readFile(files.at('a/b.txt'), 'utf8')).toBe('');
    await nothingIsLeft();
  });

  it('accepts JSON without a content type, and a text that is six times as long in escapes', async () => {
    const untyped = await test.call('PUT', WRITE, {
      key: test.services.key(),
      body: new TextEncoder().encode('{"path":"a","content":"b"}'),
    });
    expect(untyped.status).toBe(200);
    const escapes = Buffer.alloc(6 * 1_000_000, '\\u0041');
    const body = new Uint8Array(
      Buffer.concat([Buffer.from('{"path":"a","content":"'), escapes, Buffer.from('"}')]),
    );
    expect((await write(body)).body['size']).toBe(1_000_000);
  });

  it(
    'accepts exactly the size limit, counted after decoding, and refuses one byte more',
    { timeout: 120_000 },
    async () => {
      const sized = (bytes: number) => {
        const body = Buffer.alloc(bytes + 20 + 16, 'a');
        body.write('{"path":"big","content":"\\u00e9');
        body.write('"}', body.length - 2);
        // Two bytes of the text are encoded as six.
        return new Uint8Array(body.buffer, body.byteOffset, body.length);
      };
      const frame = '{"path":"big","content":"\\u00e9"}'.length - 2;
      const exact = sized(CAP + frame - 36);
      expect((await write(exact)).body).toEqual({ ok: true, path: files.at('big'), size: CAP });
      const over = await write(sized(CAP + 1 + frame - 36));
      expect([over.status, over.body.detail?.code, over.body.detail?.['limitBytes']]).toEqual([
        413,
        'payload_too_large',
        CAP,
      ]);
      await nothingIsLeft();
    },
  );

  it.each([
    ['nothing', '', ['path', 'content']],
    ['an empty object', '{}', ['path', 'content']],
    ['a number for content', '{"path":"a","content":5}', ['content']],
    ['no path', '{"content":"a"}', ['path']],
    ['an empty path', '{"content":"a","path":""}', ['path']],
    ['a lone surrogate', '{"path":"a","content":"\\ud800"}', ['content']],
    ['an array', '[1]', ['']],
    ['broken JSON', '{"path":"a","content":"b"', ['']],
    ['trailing garbage', '{"path":"a","content":"b"}x', ['']],
  ])('refuses %s with its fields, and leaves nothing behind', async (_what, body, fields) => {
    const { status, body: response } = await write(body);
    expect([status, response.detail?.code]).toEqual([400, 'invalid_request']);
    expect(response.detail?.fields?.map(({ path }) => path)).toEqual(fields);
    expect(test.services.requestsTo(filesRequests.put)).toEqual([]);
    await nothingIsLeft();
  });

  it('refuses another type or encoding with 415', async () => {
    expect((await write('path=a', 'application/x-www-form-urlencoded')).status).toBe(415);
    const zipped = await test.call('PUT', WRITE, {
      key: test.services.key(),
      body: 'x',
      headers: { 'content-type': 'application/json', 'content-encoding': 'gzip' },
    });
    expect([zipped.status, zipped.body.detail?.code]).toEqual([415, 'unsupported_media_type']);
  });

  it('passes a refusal of the service on, and discards the staged file', async () => {
    test.services.on(filesRequests.put, () => {
      throw new DomainError('conflict', 'path_exists', 'A folder is there.');
    });
    const { status, body } = await write('{"path":"a","content":"b"}');
    expect([status, body.detail?.code]).toEqual([409, 'path_exists']);
    await nothingIsLeft();
  });

  it('reports a bad request before the state of the agent, and a missing agent before both', async () => {
    test.services.on(filesRequests.openStage, () => {
      throw new DomainError('conflict', 'agent_stopped', 'Start it.');
    });
    expect((await write('{"content":"b","path":5}')).status).toBe(400);
    const stopped = await write(`{"content":"${'b'.repeat(3_000_000)}","path":"a"}`);
    expect([stopped.status, stopped.body.detail?.code]).toEqual([409, 'agent_stopped']);
    test.services.agents.clear();
    expect((await write('{"content":"b","path":5}')).status).toBe(404);
    expect((await write('{')).status).toBe(404);
  });

  it('restarts if the ticket is refused while little was sent', async () => {
    files.port.intercept = (request, response) => {
      if (files.port.requests > 1) return false;
      refuse(request, response, new DomainError('conflict', 'stale_epoch', 'Another one.'));
      return true;
    };
    const { status } = await write(`{"path":"a","content":"${'b'.repeat(200_000)}"}`);
    expect(status).toBe(200);
    expect(await readFile(files.at('a'), 'utf8')).toBe('b'.repeat(200_000));
    expect(
      test.services.requestsTo(filesRequests.openStage).map(({ payload }) => payload['refusedEpoch']),
    ).toEqual([null, 1]);
  });

  it('is complete or refused, however much arrives during the restart', async () => {
    const text = Array.from({ length: 400_000 }, (_, line) => String(line)).join(' ');
    files.port.intercept = (request, response) => {
      if (files.port.requests > 1) return false;
      request.once('data', () =>
        refuse(request, response, new DomainError('conflict', 'stale_epoch', 'Another one.')),
      );
      return true;
    };
    for (const length of [100_000, 250_000, 300_000, text.length]) {
      files.port.requests = 0;
      const { status } = await write(JSON.stringify({ path: `a${length}`, content: text.slice(0, length) }));
      expect([200, 503]).toContain(status);
      if (status === 200) expect(await readFile(files.at(`a${length}`), 'utf8')).toBe(text.slice(0, length));
      else await nothingIsLeft();
    }
  });

  it('is 503 when the host is lost in the middle, and nothing is put', async () => {
    files.port.intercept = (request, response) => {
      request.once('data', () => response.destroy());
      return true;
    };
    const { status, body } = await write(`{"path":"a","content":"${'b'.repeat(5_000_000)}"}`);
    expect([status, body.detail?.code]).toEqual([503, 'agent_unavailable']);
    expect(test.services.requestsTo(filesRequests.put)).toEqual([]);
  });

  it('is 503 when the host stored another number of bytes than were sent', async () => {
    files.port.intercept = (request, response) => {
      request.resume().once('end', () => response.end('{"size":1}'));
      return true;
    };
    const { status, body } = await write('{"path":"a","content":"bb"}');
    expect([status, body.detail?.code]).toEqual([503, 'transfer_lost']);
  });

  it('leaves nothing behind when the client disconnects midway', async () => {
    const socket = connect(Number(new URL(test.gateway.url).port), '127.0.0.1');
    const head = `PUT ${WRITE} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${test.services.key()}\r\nContent-Length: 2000000\r\n\r\n`;
    socket.write(`${head}{"path":"a","content":"${'b'.repeat(1_000_000)}`);
    await eventually(async () => expect(await files.stagedFiles()).toHaveLength(1));
    socket.destroy();
    await once(socket, 'close');
    await nothingIsLeft();
    expect(test.services.requestsTo(filesRequests.put)).toEqual([]);
  });
});

describe('an unknown agent', () => {
  it('is 404 even if the body is valid', async () => {
    test.services.on(filesRequests.openStage, () => {
      throw new DomainError('not_found', 'agent_not_found', 'There is no such agent.');
    });
    const { status } = await test.call('PUT', `/api/agents/${newId('agt')}/files/write`, {
      key: test.services.key(),
      json: { path: 'a', content: 'b' },
    });
    expect(status).toBe(404);
  });
});
