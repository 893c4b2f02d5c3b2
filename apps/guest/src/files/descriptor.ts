import { closeSync, constants, fstatSync, openSync, statfsSync, type Stats } from 'node:fs';

/** A place in the file system, held without any right to read or write it. Node does not name the flag. */
const O_PATH = 0x200000;
const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_NOCTTY, O_RDONLY } = constants;

/** An open descriptor that is closed once, whichever way its holder leaves. */
export class Descriptor implements Disposable {
  #open = true;
  readonly #fd: number;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Throws once it is closed: the number may be another file's by then. */
  get fd(): number {
    if (!this.#open) throw new Error('This descriptor is closed.');
    return this.#fd;
  }

  /** A path that leads to what is held, and to nothing else, whatever happens to its name. */
  get path(): string {
    return `/proc/self/fd/${this.fd}`;
  }

  /** The path of `name` in the held folder. Only calls that do not follow a symlink at the end may be given it. */
  at(name: string): string {
    return `/proc/self/fd/${this.fd}/${name}`;
  }

  /** The same for a name that may be no UTF-8. */
  atBytes(name: Buffer): Buffer {
    return Buffer.concat([Buffer.from(`/proc/self/fd/${this.fd}/`), name]);
  }

  stat(): Stats {
    return fstatSync(this.fd);
  }

  [Symbol.dispose](): void {
    if (!this.#open) return;
    this.#open = false;
    closeSync(this.#fd);
  }
}

/** Holds what stands at `path`; a symlink at its end is held itself. A FIFO or a device is not opened by that. */
export const hold = (path: string): Descriptor => new Descriptor(openSync(path, O_PATH | O_NOFOLLOW));

/** Holds the folder at `path`, following no symlink at its end. */
export const holdFolder = (path: string | Buffer): Descriptor =>
  new Descriptor(openSync(path, O_PATH | O_NOFOLLOW | O_DIRECTORY));

/** Opens for reading what is held. Never waits for the other end of a FIFO. */
export const reopen = (held: Descriptor): Descriptor =>
  new Descriptor(openSync(held.path, O_RDONLY | O_NONBLOCK | O_NOCTTY));

/** File systems whose files are the kernel's answers and not somebody's data, by their magic numbers (statfs(2)). */
const KERNEL_FILE_SYSTEMS: ReadonlySet<number> = new Set([
  0x9fa0, // proc
  0x62656572, // sysfs
  0x27e0eb, // cgroup
  0x63677270, // cgroup2
  0x64626720, // debugfs
  0x74726163, // tracefs
  0x73636673, // securityfs
  0xcafe4a11, // bpf
  0x62656570, // configfs
  0xde5e81e4, // efivarfs
  0x6165676c, // pstore
  0xf97cff8c, // selinuxfs
  0x43415d53, // smackfs
  0x5a3c69f0, // apparmorfs
  0x19800202, // mqueue
  0x1cd1, // devpts
  0x6e736673, // nsfs
  0x65735543, // fusectl
  0x42494e4d, // binfmt_misc
  0x67596969, // rpc_pipefs
  0x07655821, // resctrl
]);

/** Whether what is held belongs to the kernel: read as root it says more than the agent may know. */
export const isOfKernel = (held: Descriptor): boolean =>
  KERNEL_FILE_SYSTEMS.has(statfsSync(held.path).type >>> 0);
