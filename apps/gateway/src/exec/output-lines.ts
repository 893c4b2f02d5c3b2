import { isPlainObject } from '../validation/schema-keywords.js';

/** One piece of output from an agent's host. */
export type OutputPiece =
  | { readonly stream: 'stdout' | 'stderr'; readonly text: string }
  | { readonly stream: 'end' };

/** Longer than the longest line that a guest sends. */
const MAX_LINE_CHARS = 16 * 1024 * 1024;

/** Parses NDJSON as it arrives; skips malformed lines. Throws on an overlong line. */
export async function* readOutputLines(body: AsyncIterable<Uint8Array>): AsyncGenerator<OutputPiece> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of body) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    if (rest.length > MAX_LINE_CHARS) throw new Error('The host sent an overlong line.');
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
