import Type from 'typebox';
import { commandMembers } from '../hosting/index.js';
import { oneOf, pageMembers, whole, withDefault, type Shape } from '../schema/index.js';
import { EXECUTION_STATUSES } from '../hosting/index.js';

/** Columns or rows of a terminal. */
const MAX_CELLS = 1_000;

/** `POST /api/agents/{agent_id}/exec` */
export const submitBody = Type.Object(
  {
    command: commandMembers.command,
    detached: withDefault(Type.Boolean({ description: 'Respond once the command has been started.' }), false),
    timeout: commandMembers.timeout,
    cwd: commandMembers.cwd,
    env: commandMembers.env,
  },
  { $id: 'SubmitBody' },
);
export type SubmitBody = Shape<typeof submitBody>;

/** `GET /api/agents/{agent_id}/exec` */
export const listExecutionsQuery = Type.Object({
  status: Type.Optional(oneOf(EXECUTION_STATUSES)),
  ...pageMembers,
});
export type ListExecutionsQuery = Shape<typeof listExecutionsQuery>;

/** `GET /api/agents/{agent_id}/exec/{execution_id}/output` */
export const outputQuery = Type.Object({
  follow: withDefault(
    Type.Boolean({
      description: 'Keep the response open and send new output until the execution has ended.',
    }),
    false,
  ),
});
export type OutputQuery = Shape<typeof outputQuery>;

/** `GET /api/agents/{agent_id}/console` */
export const consoleQuery = Type.Object({
  cols: withDefault(whole(1, MAX_CELLS), 80),
  rows: withDefault(whole(1, MAX_CELLS), 24),
});
export type ConsoleQuery = Shape<typeof consoleQuery>;
