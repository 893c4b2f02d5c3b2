import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EnvReader } from '@berth/config';
import type { Logger } from '@berth/telemetry';
import { OperatorFileError, parseOperatorFile, type OperatorFile } from './parse-operator-file.js';

/** The operator's file as it was last read without a fault. */
export class OperatorSettings {
  constructor(
    private readonly path: string,
    private file: OperatorFile,
    private readonly mayBeMissing: boolean,
  ) {}

  /** Changes when the file is read again; do not keep it. */
  get current(): OperatorFile {
    return this.file;
  }

  /** Reads the file again on SIGHUP; returns a function that ends this. */
  rereadOnHangUp(log: Logger): () => void {
    const reread = (): void => {
      try {
        this.file = read(this.path, this.mayBeMissing);
        log.info('read the operator’s file again');
      } catch (error) {
        log.error({ err: error }, 'the operator’s file is not valid; its earlier content stays in force');
      }
    };
    process.on('SIGHUP', reread);
    return () => void process.off('SIGHUP', reread);
  }
}

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
    reader.problem(
      'BERTH_CONFIG',
      error instanceof OperatorFileError ? `(${path}) ${error.message}` : String(error),
    );
    return new OperatorSettings(path, parseOperatorFile(''), mayBeMissing);
  }
};

const read = (path: string, mayBeMissing: boolean): OperatorFile => {
  try {
    return parseOperatorFile(readFileSync(path, 'utf8'));
  } catch (error) {
    if (error instanceof OperatorFileError) throw error;
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown reason';
    if (mayBeMissing && code === 'ENOENT') return parseOperatorFile('');
    throw new OperatorFileError(`cannot be read (${code})`);
  }
};
