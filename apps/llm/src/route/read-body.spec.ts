import type { IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { MOST_BYTES, readBody } from './read-body.js';

const sent = (chunks: readonly (string | Buffer)[], headers: Record<string, string> = {}) =>
  Object.assign(Readable.from(chunks.map((chunk) => Buffer.from(chunk))), {
    headers,
  }) as unknown as IncomingMessage;
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

  it('has at most 256 levels: deeper ones are 400, however deep', async () => {
    const nested = (levels: number) => `{"a":${'['.repeat(levels - 1)}${']'.repeat(levels - 1)}}`;
    expect((await readBody(sent([nested(256)]))).bytes).toBeGreaterThan(0);
    for (const levels of [257, 100_000])
      await expect(readBody(sent([nested(levels)]))).rejects.toThrow(refused(400));
  });
});
