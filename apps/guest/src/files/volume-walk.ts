import { readlinkSync, type Stats } from 'node:fs';
import type { DomainError } from '@berth/kernel';
import { hold, isOfKernel, type Descriptor } from './descriptor.js';
import { below, splitPath, type PathParts } from './file-path.js';
import {
  codeOf,
  invalidPath,
  isADirectory,
  notAFile,
  notReadable,
  pathNotFound,
  pathOutsideVolume,
} from './file-refusals.js';
import { maySearch, type Reader } from './permission.js';

/** As many as the kernel follows. What changes under the walk counts as well, so that it ends. */
const MOST_DETOURS = 40;
/** Every folder on the way down is held: `..` leads back over what was walked, not where the kernel thinks it is now. */
const DEEPEST = 1_000;
/** Whoever removes what is made as fast as it is made must not keep a walk going for ever. */
const MOST_MADE = 2 * DEEPEST;

/** Where walks begin. */
export interface Ground {
  readonly volume: Descriptor;
  /** The volume's path as the agent sees it, in parts. */
  readonly root: readonly string[];
}

/** How a path is walked. */
export interface WalkRules {
  /** Whether a symlink at the end is followed. */
  readonly follow: boolean;
  /** What is made where it is missing: every folder but the last part, the last part too, or nothing. */
  readonly make?: 'parents' | 'all';
  /** Puts an empty folder there, or leaves what somebody else has put there meanwhile. */
  readonly makeFolder?: (parent: Descriptor, name: string) => void;
  /** Walks on beyond the volume, from the agent's `/`, as this user may. Absent: the volume is all there is. */
  readonly beyond?: boolean;
  readonly reader?: Reader | null;
  /** What is said of a missing folder on the way. */
  readonly missing?: () => DomainError;
  /** What is said when something on the way is no folder. */
  readonly blocked?: () => DomainError;
}

/** A held descriptor with what it is. */
export interface Held {
  readonly descriptor: Descriptor;
  readonly stats: Stats;
}

interface Step extends Held {
  readonly name: string;
}

/** Where a path leads. Everything on the way is held until this is disposed of. */
export interface Found extends Disposable {
  /** The folder to act in, and the name to act on; undefined for where the walk began: the volume, or `/`. */
  readonly spot: { readonly parent: Descriptor; readonly name: string } | undefined;
  /** What stood there; undefined: nothing. */
  readonly target: Held | undefined;
  /** Absolute and canonical, as the agent sees it. */
  readonly path: string;
}

/**
 * Walks a path name by name on held descriptors. The agent can swap folders and symlinks at any moment; what is held
 * stays what it is, no symlink is ever followed by the kernel, and every target is judged here.
 * Errors: invalid `path_outside_volume`, `invalid_path`; not_found `path_not_found` (or as `rules` say); for a reader also
 * forbidden `not_readable`, invalid `not_a_file`; failed system calls as they are.
 */
export const walk = (ground: Ground, path: PathParts, rules: WalkRules): Found => {
  const way = new Way(ground, rules);
  try {
    way.start(path);
    return way.finish();
  } catch (error) {
    way[Symbol.dispose]();
    throw error;
  }
};

class Way implements Found {
  spot: Found['spot'];
  target: Held | undefined;
  #steps: Step[] = [];
  #base: Held;
  #prefix: readonly string[];
  /** `/`, when the walk has left the volume. */
  #slash: Descriptor | undefined;
  /** The next part last. */
  #ahead: string[] = [];
  #detours = 0;
  #made = 0;

  constructor(
    private readonly ground: Ground,
    private readonly rules: WalkRules,
  ) {
    this.#base = { descriptor: ground.volume, stats: ground.volume.stat() };
    this.#prefix = ground.root;
  }

  get path(): string {
    const names = this.#steps.map(({ name }) => name);
    const last = this.spot === undefined || this.#isTop(this.target) ? [] : [this.spot.name];
    return `/${[...this.#prefix, ...names, ...last].join('/')}`;
  }

  start({ absolute, parts }: PathParts): void {
    if (!absolute) return this.#restart(this.ground.volume, this.ground.root, parts);
    const inside = below(this.ground.root, parts);
    if (inside !== undefined) return this.#restart(this.ground.volume, this.ground.root, inside);
    if (this.rules.beyond !== true) throw pathOutsideVolume();
    this.#slash ??= hold('/');
    this.#restart(this.#slash, [], parts);
  }

  finish(): Found {
    for (let part = this.#ahead.pop(); part !== undefined; part = this.#ahead.pop()) {
      if (part === '..') this.#up();
      else if (this.#down(part, this.#ahead.length === 0)) return this;
    }
    // The end is a folder that was entered, or where the walk began.
    const last = this.#steps.at(-1);
    this.target = last ?? this.#base;
    if (last !== undefined)
      this.spot = { parent: (this.#steps.at(-2) ?? this.#base).descriptor, name: last.name };
    return this;
  }

  [Symbol.dispose](): void {
    if (this.target !== undefined && this.target !== this.#base) this.target.descriptor[Symbol.dispose]();
    this.#leave();
    this.#slash?.[Symbol.dispose]();
  }

  get #top(): Held {
    return this.#steps.at(-1) ?? this.#base;
  }

  #isTop(held: Held | undefined): boolean {
    return held !== undefined && held.descriptor === this.#steps.at(-1)?.descriptor;
  }

  #restart(base: Descriptor, prefix: readonly string[], parts: readonly string[]): void {
    this.#leave();
    this.#base = { descriptor: base, stats: base.stat() };
    this.#prefix = prefix;
    this.#ahead.push(...parts.toReversed());
  }

  #leave(): void {
    for (const { descriptor } of this.#steps) descriptor[Symbol.dispose]();
    this.#steps = [];
  }

  #up(): void {
    this.#checkSearch();
    const step = this.#steps.pop();
    if (step !== undefined) return step.descriptor[Symbol.dispose]();
    if (this.#base.descriptor !== this.ground.volume) return;
    this.start({ absolute: true, parts: this.ground.root.slice(0, -1) });
  }

  /** Takes one part; true when the walk ends there. */
  #down(name: string, last: boolean): boolean {
    this.#checkSearch();
    const top = this.#top.descriptor;
    const descriptor = this.#hold(top, name);
    if (descriptor === undefined) return this.#missing(name, last);
    const stats = statOrClose(descriptor);
    if (stats.isSymbolicLink() && (this.rules.follow || !last)) {
      descriptor[Symbol.dispose]();
      this.#turn(name);
      return false;
    }
    if (stats.isDirectory()) {
      this.#enter({ descriptor, stats, name });
      return false;
    }
    this.target = { descriptor, stats };
    this.spot = { parent: top, name };
    if (!last) throw (this.rules.blocked ?? this.rules.missing ?? pathNotFound)();
    return true;
  }

  #hold(parent: Descriptor, name: string): Descriptor | undefined {
    try {
      return hold(parent.at(name));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
  }

  #missing(name: string, last: boolean): boolean {
    const { make, makeFolder, missing = pathNotFound } = this.rules;
    const parent = this.#top.descriptor;
    if (makeFolder !== undefined && (make === 'all' || (make === 'parents' && !last))) {
      if (++this.#made > MOST_MADE) throw missing();
      makeFolder(parent, name);
      this.#ahead.push(name);
      return false;
    }
    if (!last) throw missing();
    this.spot = { parent, name };
    return true;
  }

  #enter(step: Step): void {
    const crossed = step.stats.dev !== this.#top.stats.dev;
    this.#steps.push(step);
    if (this.#steps.length > DEEPEST) throw invalidPath(`A path is at most ${DEEPEST} folders deep.`);
    if (this.rules.beyond !== true || !crossed || !isOfKernel(step.descriptor)) return;
    // The kernel's folders answer root otherwise than the agent, and its symlinks lead into other processes.
    throw this.#ahead.length === 0 ? isADirectory() : notAFile();
  }

  /** Goes on where a symlink points to, which may by now be something else or nothing: then it is looked at again. */
  #turn(name: string): void {
    this.#detour();
    let target: string;
    try {
      target = readlinkSync(this.#top.descriptor.at(name));
    } catch (error) {
      if (!['EINVAL', 'ENOENT'].includes(codeOf(error) ?? '')) throw error;
      this.#ahead.push(name);
      return;
    }
    const path = splitPath(target);
    if (path.absolute) this.start(path);
    else this.#ahead.push(...path.parts.toReversed());
  }

  #detour(): void {
    if (++this.#detours > MOST_DETOURS) throw invalidPath('Too many symlinks lie on this path.');
  }

  #checkSearch(): void {
    const { reader } = this.rules;
    if (reader !== undefined && !maySearch(this.#top.stats, reader)) throw notReadable();
  }
}

const statOrClose = (descriptor: Descriptor): Stats => {
  try {
    return descriptor.stat();
  } catch (error) {
    descriptor[Symbol.dispose]();
    throw error;
  }
};
