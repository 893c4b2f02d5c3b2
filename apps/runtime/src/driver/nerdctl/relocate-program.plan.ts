/** Where a program finds its dynamic loader and its libraries. */
export interface ProgramPlaces {
  readonly loader: string;
  readonly libraries: string;
}

const PT_LOAD = 1;
const PT_DYNAMIC = 2;
const PT_INTERP = 3;
const DT_NULL = 0;
const DT_NEEDED = 1;
const DT_STRTAB = 5;
const DT_SYMTAB = 6;
const DT_STRSZ = 10;
const DT_RPATH = 15;
const DT_DEBUG = 21;
const SYMBOL_BYTES = 24;

interface Segment {
  readonly type: number;
  readonly offset: number;
  readonly address: number;
  readonly size: number;
}

/**
 * Changes a 64-bit ELF program, in place, to use another loader and to look for its libraries in another folder first.
 * Programs that it starts are not affected, as they would be by `LD_LIBRARY_PATH`, and `/proc/self/exe` still names the
 * program, unlike when the loader is called with it. Nothing moves in the file: the folder's name replaces the name of a
 * symbol that the program exports, and its entry the one for debuggers. Throws if the program has no room for them.
 */
export const relocateProgram = (elf: Buffer, { loader, libraries }: ProgramPlaces): void => {
  if (elf.readUInt32BE(0) !== 0x7f454c46 || elf[4] !== 2 || elf[5] !== 1)
    throw new Error('The program is not a 64-bit little-endian ELF file.');
  const segments = segmentsOf(elf);
  const interpreter = interpreterOf(elf);
  if (interpreter === undefined || interpreter.size <= loader.length)
    throw new Error('The program has no room for another loader.');
  elf
    .fill(0, interpreter.offset, interpreter.offset + interpreter.size)
    .write(loader, interpreter.offset, 'latin1');
  const dynamic = new DynamicSection(elf, segments);
  const name = dynamic.replaceableName(libraries.length);
  elf.write(`${libraries}\0`, dynamic.strings + name, 'latin1');
  dynamic.replaceDebug(DT_RPATH, name);
};

/** Where a 64-bit ELF program names its loader; undefined if it needs none. */
export const interpreterOf = (elf: Buffer): Pick<Segment, 'offset' | 'size'> | undefined =>
  segmentsOf(elf).find(({ type }) => type === PT_INTERP);

const segmentsOf = (elf: Buffer): readonly Segment[] => {
  const [start, size, count] = [number(elf, 32), elf.readUInt16LE(54), elf.readUInt16LE(56)];
  return Array.from({ length: count }, (_, index) => {
    const at = start + index * size;
    return {
      type: elf.readUInt32LE(at),
      offset: number(elf, at + 8),
      address: number(elf, at + 16),
      size: number(elf, at + 32),
    };
  });
};

class DynamicSection {
  /** Offset of the string table in the file. */
  readonly strings: number;
  readonly #entries: readonly { readonly at: number; readonly tag: number; readonly value: number }[];
  readonly #symbols: number;

  constructor(
    private readonly elf: Buffer,
    segments: readonly Segment[],
  ) {
    const section = segments.find(({ type }) => type === PT_DYNAMIC);
    if (section === undefined) throw new Error('The program is not linked dynamically.');
    const all = Array.from({ length: section.size / 16 }, (_, index) => {
      const at = section.offset + index * 16;
      return { at, tag: number(elf, at), value: number(elf, at + 8) };
    });
    this.#entries = all.slice(
      0,
      all.findIndex(({ tag }) => tag === DT_NULL),
    );
    const offsetOf = (address: number): number => {
      const segment = segments.find(
        (one) => one.type === PT_LOAD && address >= one.address && address < one.address + one.size,
      );
      if (segment === undefined) throw new Error('The program refers to an address that it does not load.');
      return address - segment.address + segment.offset;
    };
    this.strings = offsetOf(this.#value(DT_STRTAB));
    this.#symbols = offsetOf(this.#value(DT_SYMTAB));
  }

  /** Offset, in the string table, of a name of at least `length` characters that nothing else needs. */
  replaceableName(length: number): number {
    // The linker puts the strings behind the symbols.
    const count = Math.floor((this.strings - this.#symbols) / SYMBOL_BYTES);
    const exported: number[] = [];
    const needed = this.#entries.filter(({ tag }) => tag === DT_NEEDED).map(({ value }) => value);
    for (let index = 1; index < count; index++) {
      const at = this.#symbols + index * SYMBOL_BYTES;
      const name = this.elf.readUInt32LE(at);
      (this.elf.readUInt16LE(at + 6) === 0 ? needed : exported).push(name);
    }
    const isFree = (name: number): boolean =>
      !needed.some((other) => other + this.#lengthAt(other) >= name && other <= name + length) &&
      this.#lengthAt(name) >= length;
    const found = exported.find(isFree);
    if (found === undefined) throw new Error('The program exports no symbol whose name can be replaced.');
    return found;
  }

  replaceDebug(tag: number, value: number): void {
    const debug = this.#entries.find((entry) => entry.tag === DT_DEBUG);
    if (debug === undefined) throw new Error('The program has no entry that can be replaced.');
    this.elf.writeBigUInt64LE(BigInt(tag), debug.at);
    this.elf.writeBigUInt64LE(BigInt(value), debug.at + 8);
  }

  #lengthAt(name: number): number {
    const end = Math.min(this.elf.indexOf(0, this.strings + name), this.strings + this.#value(DT_STRSZ));
    return end - this.strings - name;
  }

  #value(tag: number): number {
    const value = this.#entries.find((entry) => entry.tag === tag)?.value;
    if (value === undefined) throw new Error('The program lacks a table that every dynamic program has.');
    return value;
  }
}

const number = (elf: Buffer, at: number): number => Number(elf.readBigUInt64LE(at));

const PRELOAD_FILE = '/etc/ld.so.preload';

/**
 * A copy of the dynamic loader that ignores `/etc/ld.so.preload`: in an image of a stranger, or one that the agent can
 * change, it would name code that the guest runs. Throws if the loader does not name that file.
 */
export const deafLoader = (loader: Buffer): Buffer => {
  const copy = Buffer.from(loader);
  let at = copy.indexOf(PRELOAD_FILE);
  if (at < 0) throw new Error('The dynamic loader does not name the file that it preloads from.');
  for (; at >= 0; at = copy.indexOf(PRELOAD_FILE, at)) copy.write('/.berth/no.preload', at, 'latin1');
  return copy;
};
