import { COMMAND_LIMIT_BYTES } from '@berth/contracts/exec';
import { ApiProperty } from '@nestjs/swagger';
import { IsOptional } from 'class-validator';
import { ENV_KEY, ENV_VALUE } from '../env/env-names.js';
import { payloadTooLarge } from '../http/error-response.js';
import { HttpRefusal } from '../http/http-refusal.js';
import { Inside } from '../validation/nested-rules.js';
import { IsText, Obeys, textsByKey } from '../validation/rules.js';
import { textsByKeySchema } from '../validation/text-schema.js';
import { toShellCommand } from './shell-command.js';

const MOST_ENV_VARS = 64;
const LONGEST_PATH = 4_096;

/** Validated by `submissionRefusal`, whose errors have their own codes. */
const HasOwnCode = (): PropertyDecorator => Obeys('hasOwnCode', () => undefined);

/** `POST /api/agents/{agent_id}/exec` */
export class SubmitBody {
  @ApiProperty({
    oneOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', items: { type: 'string' }, minItems: 1 },
    ],
    description: 'Text for a shell, or a list of arguments, which are quoted. Up to 1 MiB, without NUL.',
  })
  @HasOwnCode()
  readonly command!: string | readonly string[];

  @ApiProperty({
    type: 'boolean',
    default: false,
    required: false,
    description: 'Respond once the command has been started.',
  })
  @HasOwnCode()
  readonly detached?: boolean;

  @ApiProperty({
    type: 'number',
    minimum: 0,
    exclusiveMinimum: true,
    required: false,
    nullable: true,
    description: 'Seconds the command may take. Default (also for null): 60 attached, 3600 detached.',
  })
  @HasOwnCode()
  readonly timeout?: number | null;

  @ApiProperty({
    required: false,
    nullable: true,
    description: 'Where it runs: absolute inside the agent, or relative to its volume, which is the default.',
  })
  @IsOptional()
  @IsText({ max: LONGEST_PATH })
  readonly cwd?: string | null;

  @ApiProperty({
    ...textsByKeySchema(MOST_ENV_VARS, ENV_KEY, ENV_VALUE),
    selfRequired: false,
    nullable: true,
    description: `Variables for this command, in addition to the agent's own; at most ${MOST_ENV_VARS}.`,
  })
  @IsOptional()
  @Inside(textsByKey(MOST_ENV_VARS, ENV_KEY, ENV_VALUE))
  readonly env?: Readonly<Record<string, string>> | null;
}

/** The first error in `command`, `detached` or `timeout`. */
export const submissionRefusal = (body: unknown): HttpRefusal | undefined => {
  const { command, detached, timeout } = body as Partial<Record<keyof SubmitBody, unknown>>;
  return (
    refusal('invalid_command', 'command', commandProblem(command)) ??
    refusal('invalid_detached', 'detached', detachedProblem(detached)) ??
    refusal('invalid_timeout', 'timeout', timeoutProblem(timeout)) ??
    tooLong(command)
  );
};

const refusal = (code: string, path: string, message: string | undefined): HttpRefusal | undefined =>
  message === undefined
    ? undefined
    : new HttpRefusal(400, code, `${path} ${message}.`, { fields: [{ path, message }] });

const commandProblem = (command: unknown): string | undefined => {
  if (typeof command === 'string') return command === '' ? 'must not be empty' : textProblem(command);
  if (!Array.isArray(command)) return 'must be a string or a list of strings';
  if (command.length === 0) return 'must not be empty';
  if (!command.every((item) => typeof item === 'string')) return 'must hold strings only';
  return command.map(textProblem).find((problem) => problem !== undefined);
};

const textProblem = (text: string): string | undefined =>
  text.includes('\0') || !text.isWellFormed() ? 'must be valid Unicode without NUL characters' : undefined;

const detachedProblem = (detached: unknown): string | undefined =>
  detached === undefined || typeof detached === 'boolean' ? undefined : 'must be true or false';

const timeoutProblem = (timeout: unknown): string | undefined => {
  if (timeout === undefined || timeout === null) return undefined;
  return typeof timeout === 'number' && Number.isFinite(timeout) && timeout > 0
    ? undefined
    : 'must be a positive number of seconds';
};

const tooLong = (command: unknown): HttpRefusal | undefined => {
  const text = toShellCommand(command as SubmitBody['command']);
  if (Buffer.byteLength(text) <= COMMAND_LIMIT_BYTES) return undefined;
  // A short list may be long once its items are quoted.
  return payloadTooLarge(COMMAND_LIMIT_BYTES, 'The command, as the shell gets it,');
};
