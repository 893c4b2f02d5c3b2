import type { Behaviour } from './behaviour.js';
import { countOf, textOf, type Body } from './body.js';
import { countInput } from './reply.js';

const DEFAULT_DIMENSIONS = 8;

/** The vector depends on the text alone. The provider sends it as numbers, or as the base64 of 32 bit floats. */
export const embeddings = (body: Body, { usage }: Behaviour): object => {
  const { input } = body;
  const texts = Array.isArray(input) && typeof input[0] !== 'number' ? input : [input];
  const counted = { input: countInput(input), ...(usage === 'omitted' ? {} : usage) }.input;
  return {
    object: 'list',
    data: texts.map((text, index) => ({
      object: 'embedding',
      index,
      embedding: encoded(vectorOf(JSON.stringify(text), countOf(body['dimensions'])), body),
    })),
    model: textOf(body['model']),
    ...(usage !== 'omitted' && { usage: { prompt_tokens: counted, total_tokens: counted } }),
  };
};

const vectorOf = (text: string, dimensions = DEFAULT_DIMENSIONS): readonly number[] =>
  Array.from({ length: dimensions }, (_, n) => (text.charCodeAt(n % text.length) % 16) / 16);

const encoded = (vector: readonly number[], body: Body): readonly number[] | string =>
  body['encoding_format'] === 'base64'
    ? Buffer.from(Float32Array.from(vector).buffer).toString('base64')
    : vector;
