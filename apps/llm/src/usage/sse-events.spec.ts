import { describe, expect, it } from 'vitest';
import { eventsIn, SseSplitter } from './sse-events.js';

/** Pushes the chunks, and returns the data of the events and all bytes. */
const split = (chunks: readonly Buffer[]) => {
  const splitter = new SseSplitter();
  const pieces = chunks.map((chunk) => splitter.push(chunk));
  const all = [...pieces, splitter.rest()].flatMap(eventsIn);
  return { data: all.map(({ data }) => data), bytes: Buffer.concat(all.map(({ raw }) => raw)) };
};
const inPieces = (text: Buffer, length: number): readonly Buffer[] =>
  Array.from({ length: Math.ceil(text.length / length) }, (_, at) =>
    text.subarray(at * length, (at + 1) * length),
  );

describe('a stream of events', () => {
  it.each(['\n', '\r\n', '\r'])('is divided alike wherever its bytes are split, with line ends %j', (end) => {
    const lines = [
      'event: a',
      'data: {"text":"naïve 😀"}',
      '',
      ': a comment',
      '',
      'id: 1',
      'data:{"a":',
      'data: 1}',
      '',
      'data: [DONE]',
      '',
      '',
    ];
    const text = Buffer.from(lines.join(end));
    for (let length = 1; length <= text.length; length++) {
      const { data, bytes } = split(inPieces(text, length));
      expect(data).toEqual(['{"text":"naïve 😀"}', '', '{"a":\n1}', '[DONE]']);
      expect(bytes.equals(text)).toBe(true);
    }
  });

  it('gives each event as soon as its blank line has arrived', () => {
    const splitter = new SseSplitter();
    expect(String(splitter.push(Buffer.from('data: 1\n')))).toBe('');
    expect(String(splitter.push(Buffer.from('\ndata: 2\r\n\r')))).toBe('data: 1\n\n');
    expect(String(splitter.push(Buffer.from('\n')))).toBe('data: 2\r\n\r\n');
    expect(String(splitter.rest())).toBe('');
  });

  it('costs the same for each byte of an event, however long it is', () => {
    const chunk = Buffer.alloc(1_024, 'a');
    const text = Buffer.concat([
      Buffer.from('data: '),
      ...Array<Buffer>(16 * 1_024).fill(chunk),
      Buffer.from('\n\n'),
    ]);
    const begin = performance.now();
    const { data, bytes } = split(inPieces(text, chunk.length));
    // Joining what has arrived with each of these chunks would copy 128 GiB.
    expect(performance.now() - begin).toBeLessThan(5_000);
    expect(data.map(({ length }) => length)).toEqual([text.length - 'data: \n\n'.length]);
    expect(bytes.equals(text)).toBe(true);
  });

  it('may mix its line ends', () => {
    const text = Buffer.from('data: 1\n\r\ndata: 2\r\n\ndata: 3\n\n');
    expect(split([text]).data).toEqual(['1', '2', '3']);
  });

  it('has its last event without a blank line, if it ends so', () => {
    expect(split([Buffer.from('data: 1\n\ndata: 2')]).data).toEqual(['1', '2']);
  });

  it('takes one space away before the data, and no other member for data', () => {
    expect(split([Buffer.from('data:  x\ndatabase: y\n data: z\n\n')]).data).toEqual([' x']);
  });
});
