import { createReadStream } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { basename, join, posix } from 'node:path';
import { Command } from 'commander';
import type { ApiClient } from '../api-client.js';
import { CliError, EXIT } from '../cli-error.js';
import { ComputerFiles } from '../computers/computer-files.js';
import { findComputer } from '../computers/find-computer.js';
import { writeWhole } from '../computers/part-file.js';
import { readCopying, type OtherPlace } from '../computers/place.js';
import type { Terminal } from '../terminal.js';

interface CopyOptions {
  readonly recursive?: true;
}

/** `berth computers cp` */
export const computerCopyCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  new Command('cp')
    .description('copy files to or from a computer; onto a folder, into it')
    .argument('<source>', 'COMPUTER:PATH, a file of this machine, or -')
    .argument('<target>', 'the same; paths of a computer begin in its home folder')
    .option('-r, --recursive', 'folders, with all that is in them')
    .addHelpText('after', '\nExample: berth computers cp report.pdf desk:Documents/')
    .action(async (source: string, target: string, { recursive }: CopyOptions) => {
      const copying = readCopying(source, target);
      const client = api();
      const { computer } = copying.to === 'computer' ? copying.target : copying.source;
      const files = new ComputerFiles(client, terminal, await findComputer(client, computer));
      const copy = new Copy(files, terminal, recursive === true);
      if (copying.to === 'computer') await copy.upload(copying.source, copying.target.path);
      else await copy.download(copying.source.path, copying.target);
    });

class Copy {
  constructor(
    private readonly files: ComputerFiles,
    private readonly terminal: Terminal,
    private readonly recursive: boolean,
  ) {}

  async upload(source: OtherPlace, target: string): Promise<void> {
    if (source.kind === 'pipe') return this.uploadPipe(target);
    const found = await stat(source.path).catch((error: unknown) => notReadable(source.path, error));
    const name = basename(source.path);
    const into = (await this.isRemoteFolder(target)) ? posix.join(target, name) : target;
    if (found.isDirectory()) await this.uploadFolder(source.path, into);
    else await this.files.write(into, createReadStream(source.path), found.size);
  }

  async download(source: string, target: OtherPlace): Promise<void> {
    const isFolder = await this.files.isFolder(source);
    if (isFolder) this.demandRecursive(source === '' ? 'The home folder' : source);
    if (target.kind === 'pipe') {
      if (isFolder) throw new CliError(EXIT.usage, 'A folder does not fit into a pipe.');
      for await (const chunk of await this.files.read(source)) this.terminal.out.write(chunk);
      return;
    }
    const into = (await isLocalFolder(target.path)) ? join(target.path, posix.basename(source)) : target.path;
    if (!isFolder) return this.downloadFile(source, into);
    for await (const { path, below } of this.files.filesIn(source))
      await this.downloadFile(path, join(into, below));
  }

  private async uploadPipe(target: string): Promise<void> {
    const { input } = this.terminal;
    if (input === undefined) throw new CliError(EXIT.usage, 'There is no standard input.');
    if (await this.isRemoteFolder(target))
      throw new CliError(EXIT.usage, 'Give a name for what comes from the pipe.');
    await this.files.write(target, input);
  }

  private async uploadFolder(folder: string, into: string): Promise<void> {
    this.demandRecursive(folder);
    for (const name of (await readdir(folder)).sort()) {
      const path = join(folder, name);
      const found = await stat(path);
      if (found.isDirectory()) await this.uploadFolder(path, posix.join(into, name));
      else if (found.isFile())
        await this.files.write(posix.join(into, name), createReadStream(path), found.size);
      else this.terminal.err.write(`${path} is left out: it is neither a file nor a folder.\n`);
    }
  }

  private async downloadFile(source: string, path: string): Promise<void> {
    if (await isLocalFolder(path))
      throw new CliError(EXIT.refused, `${path} is a folder, which a file does not replace.`);
    await writeWhole(path, await this.files.read(source));
  }

  private async isRemoteFolder(path: string): Promise<boolean> {
    return path === '' || path.endsWith('/') || (await this.files.isFolder(path));
  }

  private demandRecursive(folder: string): void {
    if (!this.recursive) throw new CliError(EXIT.usage, `${folder} is a folder. Give -r to copy it.`);
  }
}

const isLocalFolder = async (path: string): Promise<boolean> => {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
};

const notReadable = (path: string, error: unknown): never => {
  const reason = error instanceof Error && 'code' in error ? String(error.code) : String(error);
  throw new CliError(EXIT.refused, `${path} cannot be read: ${reason}.`, { cause: error });
};
