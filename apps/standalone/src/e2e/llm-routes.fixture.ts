import { expect } from 'vitest';
import type { LlmReply } from './llm.fixture.js';

/** Paths below `/agent/v1/llm/`. */
export const CHAT = 'openai/v1/chat/completions';
export const RESPONSES = 'openai/v1/responses';
export const EMBEDDINGS = 'openai/v1/embeddings';
export const MESSAGES = 'anthropic/v1/messages';

/** The header that the other dialect requires. */
export const VERSION = { 'anthropic-version': '2023-06-01' };
export const HELLO = [{ role: 'user', content: 'hello' }];
/** How long a test waits for what the calls of a busy machine lead to. */
export const SETTLED = { timeoutMs: 60_000, intervalMs: 250 };

interface ErrorBody {
  readonly type?: string;
  readonly error: { readonly type: string; readonly code: string | null; readonly param?: null };
}
/** The type and code of an error, after its shape was found to be that of the dialect of `path`. */
export const errorOf = (path: string, { text }: LlmReply): readonly [type: string, code: string | null] => {
  const { type, error } = JSON.parse(text) as ErrorBody;
  if (path.startsWith('openai'))
    expect([type, error]).toEqual([undefined, expect.objectContaining({ param: null })]);
  else expect([type, error.param]).toEqual(['error', undefined]);
  return [error.type, error.code];
};
