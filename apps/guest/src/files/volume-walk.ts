import { readlinkSync, rmdirSync, type Stats } from 'node:fs';
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

/** The kernel's limit of symlinks in a path. Entries that change during the walk count too, so that it ends. */
const MAX_SYMLINKS = 40;
/**
 * Limit of depth. Every folder on the way down is held: `..` returns to the folder walked through, not to its current
 * parent in the kernel.
 */
const MAX_DEPTH = 1_000;
/** Limit of created folders, so that a walk ends even if the agent removes them as fast as they are created. */
const MAX_CREATED_FOLDERS = 2 * MAX_DEPTH;

/** Where walks begin. */
export interface Ground {
  readonly volume: Descriptor;
  /** The segments of the volume's path as the agent sees it. */
  readonly root: readonly string[];
}

/** Options of a walk. */
export interface WalkRules {
  /** Whether to follow a final symlink. */
  readonly follow: boolean;
  /** What to create if it is missing: all folders except the last segment, all including the last, or nothing. */
  readonly make?: 'parents' | 'all';
  /** Creates an empty folder, or leaves what has appeared there in the meantime. Returns whether it created one. */
  readonly makeFolder?: (parent: Descriptor, name: string) => boolean;
  /**
   * Allows to leave the volume, into the agent's `/`, with the permissions of this user. Absent: the walk stays in the
   * volume.
   */
  readonly beyond?: boolean;
  readonly reader?: Reader | null;
  /** The error for a missing folder on the way. */
  readonly missing?: () => DomainError;
  /** The error for an entry on the way that is not a folder. */
  readonly blocked?: () => DomainError;
}

/** A held descriptor and its metadata. */
export interface Held {
  readonly descriptor: Descriptor;
  readonly stats: Stats;
}

interface Step extends Held {
  readonly name: string;
}

/** The result of a walk. Everything on the way is held until this is disposed. */
export interface WalkResult extends Disposable {
  /** The folder to act in and the name to act on; undefined for the start of the walk: the volume, or `/`. */
  readonly spot: { readonly parent: Descriptor; readonly name: string } | undefined;
  /** The existing entry; undefined if there is none. */
  readonly target: Held | undefined;
  /** Absolute and canonical, as the agent sees it. */
  readonly path: string;
  /** Removes the folders that the walk has created, for a change that fails; those with content stay. */
  undo(): void;
}

/**
 * Walks a path segment by segment on held descriptors. The agent can swap folders and symlinks at any time, but held
 * objects stay the same, the kernel never follows a symlink, and this class checks every target. Errors: invalid
 * `path_outside_volume`, `invalid_path`; not_found `path_not_found` (or as `rules` define); for a reader also forbidden
 * `not_readable`, invalid `not_a_file`; failed system calls as they are. A walk that fails leaves no folder that it has
 * created.
 */
export const walk = (ground: Ground, path: PathParts, rules: WalkRules): WalkResult => {
  const pathWalk = new PathWalk(ground, rules);
  try {
    pathWalk.start(path);
    return pathWalk.finish();
  } catch (error) {
    pathWalk.undo();
    pathWalk[Symbol.dispose]();
    throw error;
  }
};

class PathWalk implements WalkResult {
  spot: WalkResult['spot'];
  target: Held | undefined;
  #steps: Step[] = [];
  #base: Held;
  #prefix: readonly string[];
  /** The agent's `/`, once the walk has left the volume. */
  #slash: Descriptor | undefined;
  /** The remaining segments; the next one is last. */
  #ahead: string[] = [];
  #symlinks = 0;
  #attempts = 0;
  readonly #created: { readonly parent: Descriptor; readonly name: string }[] = [];

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

  finish(): WalkResult {
    for (let part = this.#ahead.pop(); part !== undefined; part = this.#ahead.pop()) {
      if (part === '..') this.#up();
      else if (this.#down(part, this.#ahead.length === 0)) return this;
    }
    // The walk ended at a folder that it entered, or at its start.
    const last = this.#steps.at(-1);
    this.target = last ?? this.#base;
    if (last !== undefined)
      this.spot = { parent: (this.#steps.at(-2) ?? this.#base).descriptor, name: last.name };
    return this;
  }

  undo(): void {
    for (const { parent, name } of this.#created.toReversed()) {
      try {
        rmdirSync(parent.at(name));
      } catch {
        // It has content by now, or the walk has left its parent.
      }
    }
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

  /** Processes one segment; returns true when the walk ends there. */
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
      if (++this.#attempts > MAX_CREATED_FOLDERS) throw missing();
      if (makeFolder(parent, name)) this.#created.push({ parent, name });
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
    if (this.#steps.length > MAX_DEPTH) throw invalidPath(`A path is at most ${MAX_DEPTH} folders deep.`);
    if (this.rules.beyond !== true || !crossed || !isOfKernel(step.descriptor)) return;
    // The kernel's folders show root more than the agent, and their symlinks lead into other processes.
    throw this.#ahead.length === 0 ? isADirectory() : notAFile();
  }

  /** Continues at the target of a symlink. If the entry is no longer a symlink, the segment is processed again. */
  #turn(name: string): void {
    this.#countSymlink();
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

  #countSymlink(): void {
    if (++this.#symlinks > MAX_SYMLINKS) throw invalidPath('The path contains too many symlinks.');
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
