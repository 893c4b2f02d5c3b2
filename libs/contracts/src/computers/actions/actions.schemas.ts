import Type from 'typebox';
import { computerCallSchema, MOST_ACTIONS, type ComputerCall } from './computer-call.js';
import { schemaOf, type InputsOf } from './member.js';
import { namedActionSchema, type NamedAction } from './named-actions.js';
import { batchMembers } from './plan-actions.js';
import { toolUseSchemas, type ToolsetUse, type ToolUse } from './tool-use.js';
import { typedActionSchema, type TypedAction } from './typed-actions.js';

/** An action in any of its forms, as a caller sends it. */
export type ActionInput = TypedAction | NamedAction | ToolUse | ToolsetUse | ComputerCall;

/** The body of `POST /api/v1/computers/{computer_id}/actions`. */
export type ActionsBody =
  | ActionInput
  | ({ readonly actions: readonly ActionInput[] } & InputsOf<typeof batchMembers>);

const actionInput = Type.Union([typedActionSchema, namedActionSchema, ...toolUseSchemas, computerCallSchema]);

/**
 * Describes the body in the OpenAPI document. `planActions` validates it: what is wrong depends on the form that an
 * action has, and on the display.
 */
export const actionsBody = Type.Unsafe<ActionsBody>(
  Type.Union(
    [
      actionInput,
      schemaOf(batchMembers, {
        actions: Type.Array(actionInput, { minItems: 1, maxItems: MOST_ACTIONS }),
      }),
    ],
    { $id: 'ActionsBody' },
  ),
);
