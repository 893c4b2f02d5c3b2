import { DomainError, isDomainError } from '@berth/kernel';

export const invalidPath = (why: string): DomainError => new DomainError('invalid', 'invalid_path', why);

export const pathOutsideVolume = (): DomainError =>
  new DomainError('invalid', 'path_outside_volume', "The path leads out of the agent's volume.");

export const pathNotFound = (): DomainError =>
  new DomainError('not_found', 'path_not_found', 'There is nothing at this path.');

export const sourceNotFound = (): DomainError =>
  new DomainError('not_found', 'source_not_found', 'There is nothing to move at this path.');

export const stagedFileUnknown = (): DomainError =>
  new DomainError('not_found', 'staged_file_unknown', 'This file is no longer staged; send it again.');

export const notADirectory = (): DomainError =>
  new DomainError('invalid', 'not_a_directory', 'The path must lead to a folder.');

export const isADirectory = (): DomainError =>
  new DomainError('invalid', 'is_a_directory', 'The path leads to a folder; only files can be read.');

export const notAFile = (): DomainError =>
  new DomainError('invalid', 'not_a_file', 'Only regular files can be read.');

export const notReadable = (): DomainError =>
  new DomainError('forbidden', 'not_readable', "The agent's own user may not read this.");

export const pathExists = (): DomainError =>
  new DomainError('conflict', 'path_exists', 'This path already exists.');

export const destinationExists = (): DomainError =>
  new DomainError('conflict', 'destination_exists', 'The destination already exists.');

export const moveIntoItself = (): DomainError =>
  new DomainError('invalid', 'move_into_itself', 'A folder cannot be moved into itself.');

export const volumeRoot = (): DomainError =>
  new DomainError('invalid', 'volume_root', "The root of the agent's volume cannot be changed.");

export const payloadTooLarge = (limitBytes: number): DomainError =>
  new DomainError('too_large', 'payload_too_large', `A file has at most ${limitBytes} bytes.`, {
    limitBytes,
  });

export const tooManyTransfers = (): DomainError =>
  new DomainError('exhausted', 'too_many_transfers', 'Too many transfers are running; try again later.');

const notPermitted = (cause: unknown): DomainError =>
  new DomainError('forbidden', 'not_permitted', 'The file system does not permit this.', {}, { cause });

const volumeFull = (cause: unknown): DomainError =>
  new DomainError(
    'full',
    'volume_full',
    "There is no room left on the agent's volume. Delete something first.",
    {},
    { cause },
  );

const noDescriptors = (cause: unknown): DomainError =>
  new DomainError('unavailable', 'agent_unavailable', 'The agent is overloaded; try again.', {}, { cause });

/** The code of a failed system call; undefined for any other error. */
export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error ? String(error.code) : undefined;

const KNOWN: Readonly<Record<string, (cause: unknown) => DomainError>> = {
  ENOENT: pathNotFound,
  ENOTDIR: notADirectory,
  EISDIR: pathExists,
  EEXIST: pathExists,
  ENOTEMPTY: pathExists,
  ELOOP: () => invalidPath('The path contains too many symlinks.'),
  ENAMETOOLONG: () => invalidPath('A name in this path is too long.'),
  EACCES: notPermitted,
  EPERM: notPermitted,
  EROFS: notPermitted,
  EBUSY: notPermitted,
  EXDEV: notPermitted,
  EMLINK: notPermitted,
  ENOSPC: volumeFull,
  EDQUOT: volumeFull,
  EMFILE: noDescriptors,
  ENFILE: noDescriptors,
  ENOMEM: noDescriptors,
};

/** Maps a failed system call to a domain error; returns any other error unchanged. */
export const toRefusal = (error: unknown): unknown => {
  if (isDomainError(error)) return error;
  return KNOWN[codeOf(error) ?? '']?.(error) ?? error;
};

/** Like `toRefusal`, for reading: a denied permission becomes `not_readable`. */
export const toReadRefusal = (error: unknown): unknown =>
  ['EACCES', 'EPERM'].includes(codeOf(error) ?? '') ? notReadable() : toRefusal(error);
