import { posix } from 'node:path';
import type { ApiClient } from '../api-client.js';
import { CliError, EXIT } from '../cli-error.js';
import { TransferProgress } from '../output/transfer-progress.js';
import type { Terminal } from '../terminal.js';

/** One file may have 100 MB. */
const TRANSFER_MS = 3_600_000;

interface Entry {
  readonly name: string;
  readonly isDir: boolean;
}

/** A file of a computer, by its path and by its path below the folder that is copied. */
export interface RemoteFile {
  readonly path: string;
  readonly below: string;
}

/** The files of a computer. Paths are absolute, or relative to the home folder. */
export class ComputerFiles {
  constructor(
    private readonly api: ApiClient,
    private readonly terminal: Terminal,
    /** Of the API. */
    private readonly computer: string,
  ) {}

  async isFolder(path: string): Promise<boolean> {
    return (await this.entries(path)) !== undefined;
  }

  /** The content of a file, once it is known to be there. */
  async read(path: string): Promise<AsyncIterable<Uint8Array>> {
    const { body, headers } = await this.api.exchange({
      method: 'GET',
      path: this.at('files', path),
      accept: '*/*',
      withinMs: TRANSFER_MS,
    });
    const length = headers.get('content-length');
    const size = length === null ? undefined : Number(length);
    const progress = new TransferProgress(posix.basename(path), size, this.terminal);
    return progress.of(body ?? new Blob([]).stream());
  }

  async write(path: string, content: AsyncIterable<Uint8Array>, size?: number): Promise<void> {
    const progress = new TransferProgress(posix.basename(path), size, this.terminal);
    const bytes = ReadableStream.from(progress.of(content));
    await this.api.call({
      method: 'PUT',
      path: this.at('files', path),
      content: { bytes, ...(size === undefined ? {} : { size }) },
      withinMs: TRANSFER_MS,
    });
    progress.end();
  }

  /** Every file in a folder and in those below it. */
  async *filesIn(folder: string, below = ''): AsyncGenerator<RemoteFile> {
    for (const { name, isDir } of (await this.entries(folder)) ?? []) {
      // Names come from inside the computer; one that leaves the folder would write elsewhere on this machine.
      if (name === '' || name === '.' || name === '..' || /[/\\\0]/.test(name)) continue;
      const one = { path: posix.join(folder, name), below: posix.join(below, name) };
      if (isDir) yield* this.filesIn(one.path, one.below);
      else yield one;
    }
  }

  /** Undefined if the path does not lead to a folder. */
  private async entries(path: string): Promise<readonly Entry[] | undefined> {
    try {
      const list = await this.api.call<{ readonly entries: readonly Entry[] }>({
        method: 'GET',
        path: this.at('files/list', path),
        withinMs: TRANSFER_MS,
      });
      return list.entries;
    } catch (error) {
      const isOther =
        error instanceof CliError &&
        error.exitCode === EXIT.refused &&
        /\b(path_not_found|not_a_directory)\b/.test(error.message);
      if (isOther) return undefined;
      throw error;
    }
  }

  private at(route: 'files' | 'files/list', path: string): string {
    const query = path === '' ? '' : `?${new URLSearchParams({ path }).toString()}`;
    return `${this.computer}/${route}${query}`;
  }
}
