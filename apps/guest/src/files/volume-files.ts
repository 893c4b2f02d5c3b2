import type { FileChange, FileCommand, PutProgram, StagedFile } from '@berth/guest-protocol';
import type { Descriptor } from './descriptor.js';
import { holdFolder } from './descriptor.js';
import { openFile, type OpenedFile, type Within } from './file-content.js';
import { splitPath } from './file-path.js';
import { payloadTooLarge, tooManyTransfers, toReadRefusal, toRefusal } from './file-refusals.js';
import { listText, openFolder, type OpenedFolder } from './folder-list.js';
import { Staging, type Arriving } from './staging.js';
import { Turns } from './turns.js';
import { VolumeChanges } from './volume-changes.js';
import type { Ground } from './volume-walk.js';

/** Each holds a descriptor and some memory. */
const MOST_TRANSFERS = 64;
/** A list of a large folder is held in memory while it is written. */
const LISTS_AT_ONCE = 4;

/** What the files of an agent need to know of it. */
export type FilesOf = Pick<PutProgram, 'volume' | 'storage' | 'runAs'>;

/** The agent's files, against an agent that changes them at any moment. Paths in answers are as the agent sees them. */
export class VolumeFiles {
  readonly #ground: Ground;
  readonly #staging: Staging;
  readonly #changes: VolumeChanges;
  readonly #lists = new Turns(LISTS_AT_ONCE);
  #transfers = 0;

  /** Opens the volume and empties its staging folder. Errors: those of the file system. */
  constructor(private readonly agent: FilesOf) {
    const volume: Descriptor = holdFolder(agent.storage.volume);
    this.#ground = { volume, root: splitPath(agent.volume).parts };
    this.#staging = new Staging(agent.storage.staging, agent.runAs);
    this.#changes = new VolumeChanges(this.#ground, this.#staging);
  }

  /** Hands `write` the text of one `FileList`. Errors, before that: those of `listFiles`. */
  list(path: string, write: (text: AsyncIterable<string>) => Promise<void>): Promise<void> {
    const root = `/${this.#ground.root.join('/')}`;
    return this.#transfer(() =>
      this.#lists.take(async () => {
        using opened: OpenedFolder = reading(() => openFolder(this.#ground, path));
        await write(listText(opened, root));
      }),
    );
  }

  /** Hands `serve` a file that is open. Errors, before that: those of `readFile`. */
  read(
    path: string,
    { within, limitBytes }: { readonly within: Within; readonly limitBytes: number },
    serve: (opened: OpenedFile) => Promise<void>,
  ): Promise<void> {
    return this.#transfer(async () => {
      using opened = reading(() => openFile(this.#ground, path, within, this.agent.runAs));
      if (opened.size > limitBytes) throw payloadTooLarge(limitBytes);
      await serve(opened);
    });
  }

  /** Keeps a file aside until `change` commits it. Errors: those of `stageFile`. */
  stage(id: string, arriving: Arriving): Promise<StagedFile> {
    return this.#transfer(() => this.#staging.receive(id, arriving));
  }

  /** Errors: those of `changeFile`. */
  change(command: FileCommand): FileChange {
    try {
      return this.#changes.apply(command);
    } catch (error) {
      throw toRefusal(error);
    }
  }

  /** Resolves when what was deleted is gone from the disk too. */
  settled(): Promise<void> {
    return this.#staging.trash.idle();
  }

  /** What is on its way is left to its end; nothing new may be asked for. */
  async close(): Promise<void> {
    await this.#staging.close();
    this.#ground.volume[Symbol.dispose]();
  }

  async #transfer<T>(work: () => Promise<T>): Promise<T> {
    if (this.#transfers >= MOST_TRANSFERS) throw tooManyTransfers();
    this.#transfers++;
    try {
      return await work();
    } catch (error) {
      throw toRefusal(error);
    } finally {
      this.#transfers--;
    }
  }
}

const reading = <T>(open: () => T): T => {
  try {
    return open();
  } catch (error) {
    throw toReadRefusal(error);
  }
};
