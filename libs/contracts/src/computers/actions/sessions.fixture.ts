import type Anthropic from '@anthropic-ai/sdk';
import type OpenAI from 'openai';

type ToolUseBlock = Anthropic.Beta.BetaToolUseBlock;
type ToolsetBlock = Anthropic.Beta.Messages.BetaComputerToolUseBlock;
type ComputerCallItem = OpenAI.Responses.ResponseComputerToolCall;

const caller = { type: 'direct' } as const;

const toolUse = (id: string, input: object): ToolUseBlock => ({
  type: 'tool_use',
  id: `toolu_01${id}`,
  name: 'computer',
  input,
  caller,
});

/** A form filled in with `computer_20251124` and its predecessors. */
export const toolSession: readonly ToolUseBlock[] = [
  toolUse('A', { action: 'screenshot' }),
  toolUse('B', { action: 'left_click', coordinate: [640, 402] }),
  toolUse('C', { action: 'triple_click', coordinate: [640, 402] }),
  toolUse('D', { action: 'type', text: 'Zoë Müller — 東京 🚀\n' }),
  toolUse('E', { action: 'key', text: 'ctrl+shift+Tab' }),
  toolUse('F', { action: 'key', text: 'Page_Down', repeat: 3 }),
  toolUse('G', { action: 'scroll', coordinate: [640, 500], scroll_direction: 'down', scroll_amount: 5 }),
  toolUse('H', { action: 'left_click', coordinate: [212, 318], text: 'shift' }),
  toolUse('I', { action: 'left_click_drag', start_coordinate: [100, 200], coordinate: [500, 200] }),
  toolUse('J', { action: 'left_mouse_down' }),
  toolUse('K', { action: 'mouse_move', coordinate: [300, 220] }),
  toolUse('L', { action: 'left_mouse_up' }),
  toolUse('M', { action: 'hold_key', text: 'w', duration: 0.5 }),
  toolUse('N', { action: 'zoom', region: [0, 0, 640, 400] }),
  toolUse('O', { action: 'wait', duration: 2 }),
  toolUse('P', { action: 'cursor_position' }),
];

const member = <Name extends ToolsetBlock['name']>(
  id: string,
  name: Name,
  input: Extract<ToolsetBlock, { name: Name }>['input'],
) => ({ type: 'tool_use', id: `toolu_02${id}`, name, input, toolset_name: 'computer', caller }) as const;

/** One block of each member of `computer_toolset_20260801`. */
export const toolsetSession = [
  member('A', 'screenshot', {}),
  member('B', 'left_click', { coordinate: [640, 402] }),
  member('C', 'right_click', { coordinate: [640, 402], text: null }),
  member('D', 'middle_click', {}),
  member('E', 'double_click', { coordinate: [10, 20], text: 'ctrl+shift' }),
  member('F', 'triple_click', { coordinate: null }),
  member('G', 'type', { text: 'hello' }),
  member('H', 'key', { text: 'Return' }),
  member('I', 'key', { text: 'alt+Left', repeat: 2 }),
  member('J', 'hold_key', { text: 'shift', duration: 1.5 }),
  member('K', 'mouse_move', { coordinate: [1279, 799] }),
  member('L', 'left_mouse_down', {}),
  member('M', 'left_mouse_up', {}),
  member('N', 'left_click_drag', { start_coordinate: [1, 2], coordinate: [3, 4], text: 'alt' }),
  member('O', 'scroll', { scroll_direction: 'up', scroll_amount: 3, coordinate: [640, 400] }),
  member('P', 'wait', { duration: 1 }),
  member('Q', 'zoom', { region: [100, 100, 500, 350] }),
  member('R', 'cursor_position', {}),
] satisfies readonly ToolsetBlock[];

/** Items of `computer` with several actions, and of `computer_use_preview` with one. */
export const itemSession: readonly ComputerCallItem[] = [
  {
    type: 'computer_call',
    id: 'cu_1',
    call_id: 'call_1',
    status: 'completed',
    pending_safety_checks: [],
    actions: [{ type: 'screenshot' }],
  },
  {
    type: 'computer_call',
    id: 'cu_2',
    call_id: 'call_2',
    status: 'completed',
    pending_safety_checks: [],
    actions: [
      { type: 'click', x: 405, y: 157, button: 'left', keys: null },
      { type: 'keypress', keys: ['CTRL', 'A'] },
      { type: 'type', text: 'weather in Kraków' },
      { type: 'keypress', keys: ['ENTER'] },
      { type: 'wait' },
      { type: 'double_click', x: 300, y: 300, keys: null },
      { type: 'move', x: 12, y: 13, keys: ['SHIFT'] },
    ],
  },
  {
    type: 'computer_call',
    id: 'cu_3',
    call_id: 'call_3',
    status: 'completed',
    pending_safety_checks: [],
    action: { type: 'scroll', x: 640, y: 400, scroll_x: 0, scroll_y: 650 },
  },
  {
    type: 'computer_call',
    id: 'cu_4',
    call_id: 'call_4',
    status: 'completed',
    pending_safety_checks: [],
    action: {
      type: 'drag',
      path: [
        { x: 100, y: 100 },
        { x: 150, y: 120 },
        { x: 200, y: 140 },
      ],
      keys: null,
    },
  },
];
