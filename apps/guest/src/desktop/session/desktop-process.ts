import { spawn, type ChildProcess, type SpawnOptions } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import type { RunAsUser } from '@berth/guest-protocol';
import { asAgent } from '../../as-agent.js';
import { killBeforeGuest } from '../../oom-score.js';
import { displayLost, displayUnresponsive } from '../x11/x-errors.js';
import type { DesktopProgram } from './desktop-session.plan.js';

const READY_MS = 20_000;
/** How long an X server that is asked to end may take for it. */
const END_MS = 2_000;

/** Starts a program as the desktop's user. */
export const startProcess = (
  runAs: RunAsUser | null,
  program: DesktopProgram,
  options: Pick<SpawnOptions, 'cwd' | 'stdio'> & { readonly env: Readonly<Record<string, string>> },
): ChildProcess => {
  const { file, args, env, user } = asAgent(runAs, { ...program, env: options.env });
  const child = spawn(file, args, { ...options, ...user, env });
  killBeforeGuest(child.pid);
  return child;
};

/** An X server removes its files itself unless it has to be killed. */
export const endServer = async (server: ChildProcess): Promise<void> => {
  if (!isRunning(server)) return;
  const ended = once(server, 'exit');
  server.kill('SIGTERM');
  const late = setTimeout(() => server.kill('SIGKILL'), END_MS);
  await ended;
  clearTimeout(late);
};

export const isRunning = ({ pid, exitCode, signalCode }: ChildProcess): boolean =>
  pid !== undefined && exitCode === null && signalCode === null;

/** The X server writes the number of the display that it has chosen when it accepts connections. */
export const readNumber = async (server: ChildProcess): Promise<number> => {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  let text = '';
  (server.stdio[3] as Readable).on('data', (chunk: Buffer) => {
    text += chunk.toString();
    if (text.includes('\n')) resolve(Number.parseInt(text, 10));
  });
  server.once('error', (error) => reject(displayLost(error)));
  server.once('exit', () => reject(displayLost()));
  const late = setTimeout(() => reject(displayUnresponsive()), READY_MS);
  try {
    return await promise;
  } finally {
    clearTimeout(late);
  }
};
