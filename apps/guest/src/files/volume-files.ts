import type { FileChange, FileCommand, PutProgram, StagedFile } from '@berth/guest-protocol';
import { holdFolder } from './descriptor.js';
import { openFile, type OpenedFile, type Within } from './file-content.js';
import { splitPath } from './file-path.js';
import { payloadTooLarge, tooManyTransfers, toReadRefusal, toRefusal } from './file-refusals.js';
import { listText, openFolder, type InTurn } from './folder-list.js';
import { StagedUploads, type IncomingUpload } from './staged-uploads.js';
import { Semaphore } from './semaphore.js';
import { SortedNames } from './sorted-names.js';
import { VolumeChanges } from './volume-changes.js';
import type { Ground } from './volume-walk.js';

/** Each transfer holds a descriptor and some memory. */
const MAX_TRANSFERS = 64;
/** Each list holds a batch of names until its reader has received it, however slowly. */
const MAX_LISTS = 8;
/** How long a list may wait until another one ends, and for its first pass over its folder. */
const LIST_WITHIN_MS = 4_000;

/** The fields of `PutProgram` that file access needs. */
export type FilesOf = Pick<PutProgram, 'volume' | 'storage' | 'runAs'>;

/** The agent's files, safe against concurrent changes by the agent. Returned paths are as the agent sees them. */
export class VolumeFiles {
  readonly #ground: Ground;
  readonly #staging: StagedUploads;
  readonly #changes: VolumeChanges;
  readonly #transfers = new Slots(MAX_TRANSFERS);
  readonly #lists = new Semaphore(MAX_LISTS);
  /** One pass over a folder at a time: two would block other requests for twice as long. */
  readonly #passes = new Semaphore(1);
  /** Of the lists that have begun, one waits for a pass at a time, so that they do not delay the first pass of another. */
  readonly #furtherPasses = new Semaphore(1);

  /** Opens the volume and empties its staging folder. Errors: those of the file system. */
  constructor(private readonly agent: FilesOf) {
    this.#staging = new StagedUploads(agent.storage.staging, agent.runAs);
    this.#ground = { volume: holdFolder(agent.storage.volume), root: splitPath(agent.volume).parts };
    this.#changes = new VolumeChanges(this.#ground, this.#staging);
  }

  /** Passes the text of one `FileList` to `write`, unless `gone` aborts. Errors before that: those of `listFiles`. */
  async list(
    path: string,
    write: (text: AsyncIterable<string>) => Promise<void>,
    gone: AbortSignal,
  ): Promise<void> {
    const late = AbortSignal.timeout(LIST_WITHIN_MS);
    const waiting = AbortSignal.any([gone, late]);
    const list = async (): Promise<void> => {
      using opened = mapReadErrors(() => openFolder(this.#ground, path));
      const names = new SortedNames(opened.folder);
      const first = await this.#passes.run(() => names.next(gone), waiting);
      const inTurn: InTurn = (pass) => this.#furtherPasses.run(() => this.#passes.run(pass, gone), gone);
      await write(listText(opened, `/${this.#ground.root.join('/')}`, { first, names, inTurn }, gone));
    };
    try {
      await this.#lists.run(list, waiting);
    } catch (error) {
      throw error === late.reason ? tooManyTransfers() : toRefusal(error);
    }
  }

  /** Passes an open file to `serve`. Errors before that: those of `readFile`. */
  read(
    path: string,
    { within, limitBytes }: { readonly within: Within; readonly limitBytes: number },
    serve: (opened: OpenedFile) => Promise<void>,
  ): Promise<void> {
    return withSlot(this.#transfers, async () => {
      using opened = mapReadErrors(() => openFile(this.#ground, path, within, this.agent.runAs));
      if (opened.size > limitBytes) throw payloadTooLarge(limitBytes);
      await serve(opened);
    });
  }

  /** Stages a file until `change` commits it. Errors: those of `stageFile`. */
  stage(id: string, arriving: IncomingUpload): Promise<StagedFile> {
    return withSlot(this.#transfers, () => this.#staging.receive(id, arriving));
  }

  /** Errors: those of `changeFile`. */
  change(command: FileCommand): FileChange {
    try {
      return this.#changes.apply(command);
    } catch (error) {
      throw toRefusal(error);
    }
  }

  /** Resolves when deleted files are gone from the disk too. */
  settled(): Promise<void> {
    return this.#staging.trash.idle();
  }

  /** New and running requests fail from now on. */
  async close(): Promise<void> {
    await this.#staging.close();
    this.#ground.volume[Symbol.dispose]();
  }
}

/** A limited number of slots. */
class Slots {
  constructor(private free: number) {}

  /** Errors: exhausted `too_many_transfers`. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.free === 0) throw tooManyTransfers();
    this.free--;
    try {
      return await work();
    } finally {
      this.free++;
    }
  }
}

const withSlot = async <T>(slots: Slots, work: () => Promise<T>): Promise<T> => {
  try {
    return await slots.run(work);
  } catch (error) {
    throw toRefusal(error);
  }
};

const mapReadErrors = <T>(open: () => T): T => {
  try {
    return open();
  } catch (error) {
    throw toReadRefusal(error);
  }
};
