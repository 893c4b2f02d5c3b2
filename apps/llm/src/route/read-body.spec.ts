import type { IncomingMessage, ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import type { HttpExchange } from '@berth/sockets';
import { describe, expect, it } from 'vitest';
import { MOST_BYTES, readBody } from './read-body.js';

const sent = (
  chunks: readonly (string | Buffer)[],
  headers: Record<string, string> = {},
  writeContinue = (): void => undefined,
): HttpExchange => {
  const body = Readable.from(chunks.map((chunk) => Buffer.from(chunk)));
  const request = Object.assign(body, { headers, httpVersion: '1.1' }) as unknown as IncomingMessage;
  return { request, response: { writeContinue } as unknown as ServerResponse };
};
const refused = (status: number) => expect.objectContaining({ status }) as Error;

describe('a body', () => {
  it('is a JSON object, with its length as it was sent', async () => {
    const text = '{ "model": "é",\n "n": 1e0 }';
    expect(await readBody(sent([text]))).toEqual({
      body: { model: 'é', n: 1 },
      bytes: Buffer.byteLength(text),
    });
  });

  it.each(['', '[]', '7', 'null', '"text"', '{', '{"a":1}x'])(
    'that is no JSON object is 400: %s',
    async (text) => {
      await expect(readBody(sent([text]))).rejects.toThrow(refused(400));
    },
  );

  it('is at most 32 MiB long, whether it says so or not', async () => {
    await expect(readBody(sent([], { 'content-length': String(MOST_BYTES + 1) }))).rejects.toThrow(
      refused(413),
    );
    const half = Buffer.alloc(MOST_BYTES / 2, ' ');
    await expect(readBody(sent([half, half, ' ']))).rejects.toThrow(refused(413));
    expect((await readBody(sent([half, half.subarray(2), '{}']))).bytes).toBe(MOST_BYTES);
  });

  it('is asked for from a caller who waits for that, unless it is too long', async () => {
    let granted = 0;
    const grant = (): void => void granted++;
    await readBody(sent(['{}'], {}, grant));
    expect(granted).toBe(0);
    await readBody(sent(['{}'], { expect: '100-Continue' }, grant));
    expect(granted).toBe(1);
    const tooLong = { expect: '100-continue', 'content-length': String(MOST_BYTES + 1) };
    await expect(readBody(sent([], tooLong, grant))).rejects.toThrow(refused(413));
    expect(granted).toBe(1);
  });

  it('has at most 256 levels: deeper ones are 400, however deep', async () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect((await readBody(sent([nested(256)]))).bytes).toBeGreaterThan(0);
    for (const levels of [257, 100_000])
      await expect(readBody(sent([nested(levels)]))).rejects.toThrow(refused(400));
  });
});
