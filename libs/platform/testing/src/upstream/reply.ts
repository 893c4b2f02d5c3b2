import type { Behaviour, TokenCounts, Turn } from './behaviour.js';

/** A request to a model, whatever its dialect. */
export interface Question {
  readonly model: string;
  /** The user's last message. */
  readonly text: string;
  /** Results of tools since then, oldest first. */
  readonly toolResults: readonly string[];
  readonly tools: readonly string[];
  readonly outputLimit: number | undefined;
  /** The part of the body that the model reads. */
  readonly input: unknown;
  /** Responses wanted. */
  readonly choices: number;
}

export interface ToolCall {
  readonly id: string;
  readonly name: string;
  /** JSON */
  readonly arguments: string;
}

export interface Reply {
  readonly model: string;
  readonly text: string;
  readonly toolCalls: readonly ToolCall[];
  readonly ending: 'stop' | 'length' | 'tools';
  readonly usage: TokenCounts | undefined;
}

/** Our model's tokens have this many code points, so that everybody can count them. */
const TOKEN_LENGTH = 4;

export const tokensOf = (text: string): readonly string[] => {
  const points = [...text];
  const count = Math.ceil(points.length / TOKEN_LENGTH);
  return Array.from({ length: count }, (_, n) =>
    points.slice(n * TOKEN_LENGTH, (n + 1) * TOKEN_LENGTH).join(''),
  );
};

export const countInput = (input: unknown): number => tokensOf(JSON.stringify(input ?? '')).length;

/**
 * The same question always gets the same reply. Without a script the model echoes the user, calls a tool that the user
 * asks for as `use <tool> <JSON>`, and then repeats what the tool returned.
 */
export const replyTo = (question: Question, behaviour: Behaviour): Reply => {
  const { text = '', toolCalls = [] } = turnOf(question, behaviour);
  const calls = toolCalls.map((call, index) => ({
    id: `${String(question.toolResults.length)}${String(index)}`.padStart(24, '0'),
    name: call.name,
    arguments: JSON.stringify(call.arguments),
  }));
  const tokens = tokensOf(text);
  const kept = tokens.slice(0, question.outputLimit);
  const callTokens = calls.reduce((sum, call) => sum + tokensOf(call.arguments).length, 0);
  const counted = {
    input: countInput(question.input),
    cached: 0,
    cacheWrites: 0,
    output: (kept.length + callTokens) * question.choices,
    reasoning: 0,
  };
  return {
    model: question.model,
    text: kept.join(''),
    toolCalls: calls,
    ending: kept.length < tokens.length ? 'length' : calls.length > 0 ? 'tools' : 'stop',
    usage: behaviour.usage === 'omitted' ? undefined : { ...counted, ...behaviour.usage },
  };
};

const turnOf = (question: Question, { turns, textTokens }: Behaviour): Turn => {
  if (textTokens !== undefined) return { text: 'word'.repeat(textTokens) };
  const scripted = turns?.[Math.min(question.toolResults.length, turns.length - 1)];
  if (scripted !== undefined) return scripted;
  const result = question.toolResults.at(-1);
  if (result !== undefined) return { text: `tool: ${result}` };
  const [, name, given] = /^use (\w+) (\{.*\})$/s.exec(question.text) ?? [];
  if (name === undefined || given === undefined || !question.tools.includes(name))
    return { text: `echo: ${question.text}` };
  return { toolCalls: [{ name, arguments: JSON.parse(given) as object }] };
};
