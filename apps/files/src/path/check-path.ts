import { DomainError } from '@berth/kernel';

/** Names on the file systems that volumes lie on are no longer (contract §5). */
const NAME_BYTES = 255;
/** What the kernel takes as a path. */
const PATH_BYTES = 4_096;

const invalidPath = (message: string): DomainError => new DomainError('invalid', 'invalid_path', message);

/**
 * What can be said of a path without looking at the volume; the walls themselves stand in the guest. Answers why it is
 * none, or undefined.
 */
export const pathProblem = (path: string): DomainError | undefined => {
  if (path.includes('\0')) return invalidPath('A path has no NUL byte.');
  if (Buffer.byteLength(path) > PATH_BYTES) return invalidPath(`A path has at most ${PATH_BYTES} bytes.`);
  if (path.split('/').some((name) => Buffer.byteLength(name) > NAME_BYTES))
    return invalidPath(`A name in a path has at most ${NAME_BYTES} bytes.`);
  return undefined;
};

/** The name under which an uploaded file is put: the last part of what its sender called it. Throws invalid `invalid_path`. */
export const fileNameOf = (sent: string): string => {
  const name = sent.slice(sent.lastIndexOf('/') + 1);
  if (name === '' || name === '.' || name === '..') throw invalidPath('The uploaded file needs a name.');
  const problem = pathProblem(name);
  if (problem !== undefined) throw problem;
  return name;
};
