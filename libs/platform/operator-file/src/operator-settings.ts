import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ConfigError, type EnvReader } from '@berth/config';
import type { Logger } from '@berth/telemetry';
import { OperatorFileError, parseOperatorFile, type OperatorFile } from './parse-operator-file.js';

/** Finds the ids of the plans that accounts have. */
export type FindPlansInUse = () => Promise<readonly string[]>;

/** How long to wait before asking again which plans are in use. */
const ASK_AGAIN_MS = 1_000;

/** The operator's file as it was last read without a fault. */
export class OperatorSettings {
  private readonly listeners = new Set<() => void>();
  private lastReading = Promise.resolve();

  constructor(
    private readonly path: string,
    private file: OperatorFile,
    private readonly mayBeMissing: boolean,
  ) {}

  /** Changes when the file is read again; do not keep it. */
  get current(): OperatorFile {
    return this.file;
  }

  /** Calls the listener after the file was read again; returns a function that ends this. */
  onReread(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  /** Throws `ConfigError` if the file lacks one of the plans. */
  requirePlans(planIds: readonly string[]): void {
    try {
      read(this.path, this.mayBeMissing, planIds);
    } catch (error) {
      throw new ConfigError([`BERTH_CONFIG ${described(this.path, error)}`], { cause: error });
    }
  }

  /**
   * Reads the file again on SIGHUP; returns a function that ends this. A file that lacks a plan in use has a fault;
   * services that do not depend on plans need not find out which are in use. Until that can be found out, the earlier
   * content stays in force.
   */
  rereadOnHangUp(log: Logger, findPlansInUse: FindPlansInUse = async () => []): () => void {
    const ended = new AbortController();
    const reread = async (): Promise<void> => {
      const planIds = await untilFound(findPlansInUse, log, ended.signal);
      if (ended.signal.aborted) return;
      try {
        this.file = read(this.path, this.mayBeMissing, planIds);
        log.info('read the operator’s file again');
      } catch (error) {
        log.error({ err: error }, 'the operator’s file is not valid; its earlier content stays in force');
        return;
      }
      for (const listener of this.listeners) listener();
    };
    // One after the other, so that the last signal decides.
    const onHangUp = (): void => void (this.lastReading = this.lastReading.then(reread));
    process.on('SIGHUP', onHangUp);
    return () => {
      process.off('SIGHUP', onHangUp);
      ended.abort();
    };
  }
}

/** The service that knows may be down. Returns none when `signal` aborts. */
const untilFound = async (
  findPlansInUse: FindPlansInUse,
  log: Logger,
  signal: AbortSignal,
): Promise<readonly string[]> => {
  while (!signal.aborted) {
    try {
      return await findPlansInUse();
    } catch (error) {
      log.warn({ err: error }, 'the operator’s file is read again once it is known which plans are in use');
      await delay(ASK_AGAIN_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }
  return [];
};

/**
 * Reads the file that BERTH_CONFIG names, by default `berth.yaml` in BERTH_DATA if there is one. Records a problem with
 * the line and the member if it is not valid, or if BERTH_CONFIG names a file that cannot be read.
 */
export const readOperatorSettings = (reader: EnvReader): OperatorSettings => {
  const named = reader.optional('BERTH_CONFIG');
  const path = named ?? join(reader.path('BERTH_DATA', '.data'), 'berth.yaml');
  const mayBeMissing = named === undefined;
  try {
    return new OperatorSettings(path, read(path, mayBeMissing), mayBeMissing);
  } catch (error) {
    reader.problem('BERTH_CONFIG', described(path, error));
    return new OperatorSettings(path, parseOperatorFile(''), mayBeMissing);
  }
};

const described = (path: string, error: unknown): string =>
  error instanceof OperatorFileError ? `(${path}) ${error.message}` : String(error);

const read = (path: string, mayBeMissing: boolean, plansInUse: readonly string[] = []): OperatorFile =>
  parseOperatorFile(textOf(path, mayBeMissing), plansInUse);

const textOf = (path: string, mayBeMissing: boolean): string => {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    if (mayBeMissing && code === 'ENOENT') return '';
    throw new OperatorFileError(`cannot be read (${code})`);
  }
};
