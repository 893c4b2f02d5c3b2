import type { LlmDialect } from '@berth/contracts/llm';

/** One route of a dialect. */
export interface Operation {
  readonly dialect: LlmDialect;
  /** Below `/v1/`. */
  readonly name:
    | 'chat/completions'
    | 'responses'
    | 'embeddings'
    | 'models'
    | 'messages'
    | 'messages/count_tokens';
  readonly method: 'GET' | 'POST';
  /** Free calls are not counted. */
  readonly isFree: boolean;
}

const OPERATIONS: readonly Operation[] = [
  { dialect: 'openai', name: 'chat/completions', method: 'POST', isFree: false },
  { dialect: 'openai', name: 'responses', method: 'POST', isFree: false },
  { dialect: 'openai', name: 'embeddings', method: 'POST', isFree: false },
  { dialect: 'openai', name: 'models', method: 'GET', isFree: true },
  { dialect: 'anthropic', name: 'messages', method: 'POST', isFree: false },
  { dialect: 'anthropic', name: 'messages/count_tokens', method: 'POST', isFree: true },
  { dialect: 'anthropic', name: 'models', method: 'GET', isFree: true },
];

const ROUTE = /^\/agent\/v1\/llm\/(openai|anthropic)(?:\/(?:v1(?:\/(.*))?)?)?$/;

/** The dialect of a path, by which errors have their shape; OpenAI's where it names none. */
export const dialectOf = (path: string): LlmDialect =>
  ROUTE.exec(path)?.[1] === 'anthropic' ? 'anthropic' : 'openai';

/** The routes of a path, one for each method; `[]` if there is none. */
export const operationsOf = (path: string): readonly Operation[] => {
  const [, dialect, name] = ROUTE.exec(path) ?? [];
  return OPERATIONS.filter((one) => one.dialect === dialect && one.name === name);
};
