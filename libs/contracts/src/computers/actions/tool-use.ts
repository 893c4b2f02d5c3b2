import Type from 'typebox';
import { orNull } from '../../schema/index.js';
import { actionNamed } from './action.js';
import {
  MUST_BE_NAMED,
  namedActions,
  namedActionSchema,
  type ActionName,
  type NamedAction,
  type NamedActionMembers,
} from './named-actions.js';
import { name } from './plain-forms.js';
import { below, isObject, memberOf, type JsonObject, type Reading } from './reading.js';
import { successText } from './tool-result.js';
import type { Unit } from './unit.js';

/** The name of Anthropic's tool, and of its toolset. */
const COMPUTER = 'computer';

/** A `tool_use` block of Anthropic's computer tool. */
export interface ToolUse {
  readonly type: 'tool_use';
  readonly id: string;
  readonly name: typeof COMPUTER;
  readonly input: NamedAction;
  readonly toolset_name?: null;
}

/** A `tool_use` block of Anthropic's `computer_toolset_20260801`. */
export type ToolsetUse = {
  readonly [Name in ActionName]: {
    readonly type: 'tool_use';
    readonly id: string;
    readonly name: Name;
    readonly input: NamedActionMembers[Name];
    readonly toolset_name: typeof COMPUTER;
  };
}[ActionName];

export const toolUseSchemas = [
  Type.Object({
    type: Type.Literal('tool_use'),
    id: name.schema,
    name: Type.Literal(COMPUTER),
    input: namedActionSchema,
    toolset_name: Type.Optional(Type.Null()),
  }),
  ...Object.entries(namedActions).map(([one, { schema }]) =>
    Type.Object({
      type: Type.Literal('tool_use'),
      id: name.schema,
      name: Type.Literal(one),
      input: Type.Optional(orNull(schema({}))),
      toolset_name: Type.Literal(COMPUTER),
    }),
  ),
];

export const readToolUse = (block: JsonObject, path: string, reading: Reading): Unit | undefined => {
  const id = name.read(memberOf(block, 'id'), below(path, 'id'), reading);
  const input = memberOf(block, 'input') ?? {};
  if (!isObject(input)) return reading.refuse(below(path, 'input'), 'must be an object');
  const isToolset = memberOf(block, 'toolset_name') !== undefined;
  const type = isToolset ? memberName(block, path, reading) : toolAction(block, input, path, reading);
  const action = actionNamed(namedActions, type);
  const steps = action?.steps(input, below(path, 'input'), reading, isToolset ? [] : ['action']);
  if (id === undefined || type === undefined || steps === undefined) return undefined;
  const toolset = isToolset ? COMPUTER : null;
  return {
    type,
    actions: [steps],
    vendor: { kind: 'tool_use', id, toolset, text: successText(type, input) },
  };
};

const isActionName = (value: unknown): value is ActionName => actionNamed(namedActions, value) !== undefined;

const memberName = (block: JsonObject, path: string, reading: Reading): ActionName | undefined => {
  if (memberOf(block, 'toolset_name') !== COMPUTER)
    return reading.refuse(below(path, 'toolset_name'), `must be "${COMPUTER}": other toolsets are not ours`);
  const member = memberOf(block, 'name');
  return isActionName(member) ? member : reading.refuse(below(path, 'name'), MUST_BE_NAMED);
};

const toolAction = (
  block: JsonObject,
  input: JsonObject,
  path: string,
  reading: Reading,
): ActionName | undefined => {
  const tool = memberOf(block, 'name');
  if (isActionName(tool))
    return reading.refuse(
      below(path, 'toolset_name'),
      `must be "${COMPUTER}": without it the block is another tool's`,
    );
  if (tool !== COMPUTER) return reading.refuse(below(path, 'name'), `must be "${COMPUTER}"`);
  const one = memberOf(input, 'action');
  return isActionName(one) ? one : reading.refuse(below(path, 'input.action'), MUST_BE_NAMED);
};
