import { isPlainObject } from '../validation/schema-keywords.js';

/** One piece of output from an agent's host. */
export type OutputPiece =
  { readonly stream: 'stdout' | 'stderr'; readonly text: string } | { readonly stream: 'end' };

/** Longer than the longest line that a guest sends. */
const LONGEST_LINE = 16 * 1024 * 1024;

/** Reads NDJSON as it comes; malformed lines are skipped. Throws on an overlong line. */
export async function* readOutputLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<OutputPiece> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > LONGEST_LINE) throw new Error('The host sends a line without end.');
    for (const line of lines) {
      const piece = parse(line);
      if (piece !== undefined) yield piece;
    }
  }
}

const parse = (line: string): OutputPiece | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (!isPlainObject(value)) return undefined;
  const { stream, text } = value;
  if (stream === 'end') return { stream };
  if ((stream !== 'stdout' && stream !== 'stderr') || typeof text !== 'string') return undefined;
  return { stream, text };
};
