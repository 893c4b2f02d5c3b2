import { execFile } from 'node:child_process';

const ENDED_WITHIN_MS = 3_000;

/** What a program printed, also on standard error; `failed` also if it is missing or took longer than 3 s. */
export const runProgram = (
  program: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = process.env,
): Promise<{ readonly output: string; readonly failed: boolean }> =>
  new Promise((resolve) => {
    const child = execFile(
      program,
      args,
      { timeout: ENDED_WITHIN_MS, killSignal: 'SIGKILL', env },
      (error, stdout, stderr) => resolve({ output: stdout + stderr, failed: error !== null }),
    );
    child.stdin?.end();
  });
