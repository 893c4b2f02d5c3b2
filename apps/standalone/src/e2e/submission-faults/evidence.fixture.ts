import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  decodeExecution,
  executionFileName,
  EXECUTIONS_FOLDER,
  type ExecutionRecord,
} from '@berth/guest-protocol';

/** The guest's journal record of an execution; `torn` is a record that cannot be read. */
export const recordOf = (journal: string, executionId: string): ExecutionRecord | 'torn' | undefined => {
  let text: string;
  try {
    text = readFileSync(join(journal, EXECUTIONS_FOLDER, executionFileName(executionId)), 'utf8');
  } catch {
    return undefined;
  }
  return decodeExecution(text) ?? 'torn';
};

/** The ids of all executions in the guest's journal. */
export const recorded = (journal: string): readonly string[] =>
  readdirSync(join(journal, EXECUTIONS_FOLDER)).flatMap((name) => /^(exe_\w+)\.json$/.exec(name)?.[1] ?? []);
