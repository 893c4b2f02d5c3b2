import type { ActionName } from './named-actions.js';
import { memberOf, type JsonObject } from './reading.js';
import type { Image, Seen } from './outcome.js';
import type { Vendor } from './unit.js';

/** Anthropic's answer to a `tool_use` block. */
export type ToolResult = {
  readonly type: 'tool_result';
  readonly tool_use_id: string;
  readonly toolset_name?: string;
  readonly content: readonly [ToolResultContent];
  readonly is_error?: true;
};

type ToolResultContent =
  | { readonly type: 'text'; readonly text: string }
  | {
      readonly type: 'image';
      readonly source: {
        readonly type: 'base64';
        readonly media_type: `image/${Image['format']}`;
        readonly data: string;
      };
    };

/** What Anthropic's own package says; nothing for actions that show something instead. */
const SUCCESS: Readonly<Record<ActionName, string>> = {
  key: 'Pressed {text}.',
  hold_key: 'Held {text} for {duration}s.',
  type: 'Typed.',
  cursor_position: '',
  mouse_move: 'Moved the mouse.',
  left_mouse_down: 'Left mouse button pressed.',
  left_mouse_up: 'Left mouse button released.',
  left_click: 'Clicked.',
  left_click_drag: 'Dragged.',
  right_click: 'Right-clicked.',
  middle_click: 'Middle-clicked.',
  double_click: 'Double-clicked.',
  triple_click: 'Triple-clicked.',
  scroll: 'Scrolled {scroll_direction}.',
  wait: 'Waited {duration}s.',
  screenshot: '',
  zoom: '',
};

/** Anthropic's sentence for what was not tried. */
export const SKIPPED = 'Not executed: an earlier computer action in this turn failed.';

/** What is said of an action that succeeded, with members of its input. */
export const successText = (action: ActionName, input: JsonObject): string =>
  SUCCESS[action].replaceAll(/\{(\w+)\}/g, (_, member: string) => onOneLine(memberOf(input, member)));

/** As Anthropic's package folds it: a key may be a line break, or a character that turns the direction of the text. */
const onOneLine = (value: unknown): string =>
  String(value)
    .replaceAll(/[\p{Control}\p{Bidi_Control}\u2028\u2029]+/gu, ' ')
    .trim();

type Block = Pick<Extract<Vendor, { readonly kind: 'tool_use' }>, 'id' | 'toolset'>;

/** The result of a block that succeeded. A position is one that the caller sees. */
export const toolResult = (block: Block & { readonly text: string }, seen: Seen | null): ToolResult =>
  resultOf(block, seen === null ? textOf(block.text) : contentOf(seen));

const textOf = (text: string): ToolResultContent => ({ type: 'text', text });

const contentOf = (seen: Seen): ToolResultContent => {
  if (seen.kind === 'text') return textOf(seen.text);
  if (seen.kind === 'position') return textOf(`X=${seen.x},Y=${seen.y}`);
  const { format, data } = seen.image;
  return { type: 'image', source: { type: 'base64', media_type: `image/${format}`, data } };
};

/** The result of a block that failed or was not tried, and why. */
export const failedToolResult = (block: Block, why: string): ToolResult => ({
  ...resultOf(block, textOf(why)),
  is_error: true,
});

const resultOf = ({ id, toolset }: Block, content: ToolResultContent): ToolResult => ({
  type: 'tool_result',
  tool_use_id: id,
  ...(toolset === null ? {} : { toolset_name: toolset }),
  content: [content],
});
