import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { becomesTrue } from './supervision/poll.js';
import type { EmbeddedLog } from './supervision/embedded-log.js';
import { identifyProcess } from './supervision/process-identity.js';

/** A log that records its messages. */
export function recordingLog(): EmbeddedLog & { readonly lines: string[] } {
  const lines: string[] = [];
  const note = (context: object, message: string): void => {
    lines.push(`${message} ${JSON.stringify(context)}`);
  };
  return { lines, info: note, warn: note, error: note };
}

/** Returns a path below a private temporary folder, and a function that removes the folder. */
export function temporaryDataDir(): { dataDir: string; remove(): void } {
  const parent = mkdtempSync(join(tmpdir(), 'berth-embedded-'));
  return {
    dataDir: join(parent, 'data'),
    remove: () => rmSync(parent, { recursive: true, force: true }),
  };
}

/** Fails with `what` when the condition does not become true in time. */
export async function eventually(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = 15_000,
): Promise<void> {
  if (!(await becomesTrue(condition, withinMs)))
    throw new Error(`did not happen within ${withinMs} ms: ${what}`);
}

/** The process ids recorded in a data folder. */
export function recordedPids(dataDir: string): number[] {
  return ['nats', 'event-store', 'postgres'].map((part) => {
    const note = readFileSync(join(dataDir, 'embedded', `${part}.pid.json`), 'utf8');
    return (JSON.parse(note) as { pid: number }).pid;
  });
}

/** Whether a process with that id runs. */
export function runs(pid: number): boolean {
  return identifyProcess(pid) !== undefined;
}

/** All addresses on which this machine listens at a TCP port, as "hexAddress:port" of /proc (Linux). */
export function listeners(port: number): string[] {
  const suffix = `:${port.toString(16).toUpperCase().padStart(4, '0')}`;
  return ['/proc/net/tcp', '/proc/net/tcp6'].flatMap((file) =>
    readFileSync(file, 'utf8')
      .split('\n')
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => local?.endsWith(suffix) === true && state === '0A')
      .map(([, local]) => local ?? ''),
  );
}

/** Starts another process that runs `script` (ES module source); the built library is available there as `embedded`. */
export function otherProcess(script: string, args: readonly string[]): OtherProcess {
  const library = pathToFileURL(join(import.meta.dirname, '../dist/index.js')).href;
  const text = `import * as embedded from ${JSON.stringify(library)};\nconst log = { info() {}, warn() {}, error() {} };\n${script}`;
  const child = execFile(process.execPath, ['--input-type=module', '-e', text, ...args]);
  let output = '';
  child.stdout?.on('data', (chunk: string) => (output += chunk));
  child.stderr?.on('data', (chunk: string) => (output += chunk));
  const ended = new Promise<number | null>((resolve) => {
    child.once('exit', (code) => resolve(code));
  });
  return {
    prints: async (text) => {
      await eventually(`"${text}" was not printed; output: ${output}`, () => output.includes(text), 30_000);
      return output;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
    ended,
  };
}

/** A process that the test controls. */
export interface OtherProcess {
  /** Waits until its output contains the text, and returns the whole output. */
  prints(text: string): Promise<string>;
  kill(): Promise<void>;
  readonly ended: Promise<number | null>;
}
