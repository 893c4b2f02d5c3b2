import { PATH_LIMIT_BYTES } from './files.schemas.js';
import { DomainError } from '@berth/kernel';

/** Maximum name length of the file systems that hold volumes. */
const NAME_BYTES = 255;

const invalidPath = (message: string): DomainError => new DomainError('invalid', 'invalid_path', message);

/**
 * Checks what can be checked without access to the volume; the guest enforces the rest. Returns the error, or undefined
 * for a valid path.
 */
export const pathProblem = (path: string): DomainError | undefined => {
  if (path.includes('\0')) return invalidPath('A path must not contain a NUL byte.');
  if (Buffer.byteLength(path) > PATH_LIMIT_BYTES)
    return invalidPath(`A path has at most ${PATH_LIMIT_BYTES} bytes.`);
  if (path.split('/').some((name) => Buffer.byteLength(name) > NAME_BYTES))
    return invalidPath(`A name in a path has at most ${NAME_BYTES} bytes.`);
  return undefined;
};

/** The name for an uploaded file: the last segment of the name that the sender gave. Throws invalid `invalid_path`. */
export const fileNameOf = (sent: string): string => {
  const name = sent.slice(sent.lastIndexOf('/') + 1);
  if (name === '' || name === '.' || name === '..') throw invalidPath('The uploaded file needs a name.');
  const problem = pathProblem(name);
  if (problem !== undefined) throw problem;
  return name;
};
