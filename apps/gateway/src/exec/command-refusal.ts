import { COMMAND_LIMIT_BYTES, type SubmitBody } from '@berth/contracts/exec';
import { payloadTooLarge } from '../http/error-response.js';
import type { HttpRefusal } from '../http/http-refusal.js';
import { toShellCommand } from './shell-command.js';

/** 413 for a body whose command is too long; its `command` is valid otherwise. */
export const commandRefusal = (body: unknown): HttpRefusal | undefined => {
  const text = toShellCommand((body as SubmitBody).command);
  if (Buffer.byteLength(text) <= COMMAND_LIMIT_BYTES) return undefined;
  // A short list may be long once its items are quoted.
  return payloadTooLarge(COMMAND_LIMIT_BYTES, 'The command, as the shell gets it,');
};
