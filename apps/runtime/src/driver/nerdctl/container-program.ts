import type { BoxSpec } from '../box-spec.js';
import { DriverError } from '../driver-error.js';
import type { Box, InsidePaths, RunAs } from '../driver.js';
import type { ImageFacts } from './images/image-facts.js';
import { readUserFiles, resolveUser, type UserIds } from './image-user.js';
import { AGENT_IDS, INSIDE, insidePathsOf, ROOT_IDS, runAsUser, SYSTEM_PATH } from './paths-inside.js';

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
  const ids = await idsOf(spec.user, image.user, root);
  return {
    command: isImage ? image.command : spec.command,
    inside: insidePathsOf(path, workingDirOf(spec, image), spec.volumePath),
    runAs: runAsUser(ids),
    ids,
    env,
  };
};

/** Where the program of an image runs, and commands on a desktop; null for code that Berth brings. */
const workingDirOf = ({ source, volumePath }: BoxSpec, image: ImageFacts): string | null => {
  if (source.kind === 'desktop') return volumePath ?? INSIDE.volume;
  return source.kind === 'image' ? image.workingDir : null;
};

/**
 * Who the processes of a box are. An image or Dockerfile is what it says, as far as the operator allows; a template says it
 * itself.
 */
export const userOf = (
  { source, user }: Pick<BoxSpec, 'source' | 'user'>,
  image: Pick<ImageFacts, 'user'>,
  allowRoot: boolean,
): BoxSpec['user'] => (source.kind === 'image' && allowRoot && isRoot(image.user) ? 'root' : user);

const isRoot = (user: string): boolean => user === '' || /^(?:root|0)(?::|$)/.test(user);

const idsOf = async (user: BoxSpec['user'], named: string, root: string): Promise<UserIds> => {
  if (user === 'root') return ROOT_IDS;
  if (isRoot(named)) return AGENT_IDS;
  const ids = resolveUser(named, await readUserFiles(root));
  if (ids === undefined)
    throw new DriverError('spec_unsupported', `The image names a user that it does not have: ${named}.`);
  return ids.uid === 0 ? AGENT_IDS : ids;
};
