import type { BoxSpec } from '../box-spec.js';
import { DriverError } from '../driver-error.js';
import type { Box, InsidePaths, RunAs } from '../driver.js';
import type { ImageFacts } from './images/image-facts.js';
import { readUserFiles, resolveUser, type UserIds } from './image-user.js';
import { AGENT_IDS, insidePathsOf, runAsUser, SYSTEM_PATH } from './paths-inside.js';

/** How the program of a container is run. */
export interface ContainerProgram {
  readonly command: Box['command'];
  readonly inside: InsidePaths;
  readonly runAs: RunAs;
  readonly ids: UserIds;
  /** Variables of the image, which those of Berth and of the owner replace. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * The program of a container that has just started, below whose `root` nothing runs yet but the guest. Errors:
 * `spec_unsupported`.
 */
export const programOf = async (
  spec: BoxSpec,
  image: ImageFacts,
  root: string,
): Promise<ContainerProgram> => {
  const isImage = spec.source.kind === 'image';
  const { PATH: path = SYSTEM_PATH, ...env } = image.env;
  if (isImage && image.command === null)
    throw new DriverError('spec_unsupported', 'The image has no command to run.');
  const ids = isRoot(image.user) ? AGENT_IDS : await idsOf(image.user, root);
  return {
    command: isImage ? image.command : spec.command,
    inside: insidePathsOf(path, isImage ? image.workingDir : null),
    runAs: runAsUser(ids),
    ids,
    env,
  };
};

const isRoot = (user: string): boolean => user === '' || /^(?:root|0)(?::|$)/.test(user);

const idsOf = async (user: string, root: string): Promise<UserIds> => {
  const ids = resolveUser(user, await readUserFiles(root));
  if (ids === undefined)
    throw new DriverError('spec_unsupported', `The image names a user that it does not have: ${user}.`);
  return ids.uid === 0 ? AGENT_IDS : ids;
};
