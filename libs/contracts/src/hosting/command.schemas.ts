import Type from 'typebox';
import {
  isStorable,
  orNull,
  text,
  textsByName,
  variableName,
  variableValue,
  withMessage,
} from '../schema/index.js';

const MAX_VARIABLES = 64;
const MAX_PATH_CHARS = 4_096;

const commandProblem = (command: unknown): string | undefined => {
  if (typeof command === 'string') return command === '' ? 'must not be empty' : unicodeProblem(command);
  if (!Array.isArray(command)) return 'must be a string or a list of strings';
  if (command.length === 0) return 'must not be empty';
  if (!command.every((item) => typeof item === 'string')) return 'must contain only strings';
  return command.map(unicodeProblem).find((problem) => problem !== undefined);
};

const unicodeProblem = (value: string): string | undefined =>
  isStorable(value) ? undefined : 'must be valid Unicode without NUL characters';

const command = Type.Refine(
  Type.Unsafe<string | string[]>({
    oneOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', items: { type: 'string' }, minItems: 1 },
    ],
    description: 'A shell command, or a list of arguments, which Berth quotes. Up to 1 MiB, without NUL.',
  }),
  (value) => commandProblem(value) === undefined,
  (value) => commandProblem(value) ?? 'is not valid',
);

const timeout = withMessage(
  Type.Number({
    exclusiveMinimum: 0,
    description: 'Seconds the command may take. Default (also for null): 60 attached, 3600 detached.',
  }),
  'must be a positive number of seconds',
);

/** What is asked for when a command is to be run. */
export const commandMembers = {
  command,
  timeout: Type.Optional(orNull(timeout)),
  cwd: Type.Optional(
    orNull(text({ max: MAX_PATH_CHARS }), {
      description:
        'Where it runs: absolute inside the agent, or relative to its volume, which is the default.',
    }),
  ),
  env: Type.Optional(
    orNull(textsByName(MAX_VARIABLES, variableName, variableValue()), {
      description: `Variables for this command, in addition to the agent's own; at most ${MAX_VARIABLES}.`,
    }),
  ),
};
