import { isId } from '@berth/kernel';
import {
  CUT_MARK,
  EXECUTION_STATUSES,
  KEPT_CHARACTERS,
  type ExecutionReport,
  type ExecutionStatus,
  type LegacyReport,
  type PrecludedExecution,
} from '@berth/guest-protocol';
import { fields, isText } from './response-fields.js';
import { guestUnreachable } from './guest-responses.js';

// As in guest-responses: nothing from a guest is passed on unchecked.

/** A character takes up to two UTF-16 units. */
const LONGEST_STREAM = CUT_MARK.length + 2 * KEPT_CHARACTERS;
const MAX_RUNNING = 10_000;
const MAX_EXIT_CODE = 0xffff_ffff;

/** Response of `execute`, `execution` and `cancelExecution`, for that execution. */
export const readExecution = (body: unknown, expectedId: string): ExecutionReport => {
  const { executionId, status, exitCode, stdout, stderr, startedAt, endedAt } = fields(body);
  if (executionId !== expectedId || !isStatus(status)) throw guestUnreachable();
  const common = { executionId: expectedId, status, startedAt: readTime(startedAt) };
  if (status === 'running') return { ...common, exitCode: null, stdout: null, stderr: null, endedAt: null };
  return {
    ...common,
    exitCode: status === 'completed' ? readExitCode(exitCode) : -1,
    stdout: readStream(stdout),
    stderr: readStream(stderr),
    endedAt: readTime(endedAt),
  };
};

/** Response of `executeLegacy`. */
export const readLegacyReport = (body: unknown): LegacyReport => {
  const { exitCode, output } = fields(body);
  if (!isText(output, 2 * LONGEST_STREAM)) throw guestUnreachable();
  return { exitCode: readExitCode(exitCode), output: output.toWellFormed() };
};

/** Response of `runningExecutions`. */
export const readRunningExecutions = (body: unknown): readonly string[] => {
  const { executionIds } = fields(body);
  if (!Array.isArray(executionIds)) throw guestUnreachable();
  return executionIds
    .filter((id: unknown): id is string => typeof id === 'string' && isId('exe', id))
    .slice(0, MAX_RUNNING);
};

/** Response of `precludeExecution`. */
export const readPrecluded = (body: unknown): PrecludedExecution => {
  const { started } = fields(body);
  if (typeof started !== 'boolean') throw guestUnreachable();
  return { started };
};

const readStream = (value: unknown): string => {
  if (!isText(value, LONGEST_STREAM)) throw guestUnreachable();
  return value.toWellFormed();
};

const readExitCode = (value: unknown): number => {
  if (!Number.isSafeInteger(value) || Math.abs(Number(value)) > MAX_EXIT_CODE) throw guestUnreachable();
  return Number(value);
};

const readTime = (value: unknown): string => {
  const time = isText(value, 40) ? new Date(value) : undefined;
  if (time === undefined || Number.isNaN(time.getTime())) throw guestUnreachable();
  return time.toISOString();
};

const isStatus = (value: unknown): value is ExecutionStatus =>
  EXECUTION_STATUSES.some((candidate) => candidate === value);
