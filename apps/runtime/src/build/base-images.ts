import { arch } from 'node:os';
import { formatImageReference, parseImageReference, type ImageReference } from '@berth/kernel';
import { allowedRegistry, type AllowedHost } from '@berth/operator-file';
import type { BaseImage } from '../driver/task-spec.js';
import { BuildFailure } from './build-failure.js';
import { imagesOf, type PlatformArguments } from './dockerfile-images.plan.js';

/** Each is pulled to the host. */
const MAX_IMAGES = 32;
/** Node's names of architectures that OCI calls differently. */
const ARCHITECTURES: Readonly<Record<string, string>> = { x64: 'amd64', ia32: '386' };

/** The images that a Dockerfile takes files from. Errors: `build_failed` if the operator does not allow one. */
export const baseImagesOf = (
  dockerfile: string,
  registries: readonly AllowedHost[],
): readonly BaseImage[] => {
  const names = imagesOf(dockerfile, platformArguments(ARCHITECTURES[arch()] ?? arch()));
  if (names.length > MAX_IMAGES)
    throw new BuildFailure('build_failed', `The Dockerfile uses more than ${MAX_IMAGES} images.`);
  return names.flatMap((name) => {
    const reference = parseImageReference(name);
    // BuildKit says what is wrong with it, and where.
    if (reference === undefined) return [];
    const allowed = allowedRegistry(reference.registry, registries);
    if (allowed === undefined)
      throw new BuildFailure(
        'build_failed',
        `The Dockerfile uses the image ${name}, and the operator does not allow images of the registry ${reference.registry}.`,
      );
    const complete = formatImageReference(reference);
    return [{ name: familiarName(reference), reference: complete, insecure: allowed.insecure }];
  });
};

const platformArguments = (architecture: string): PlatformArguments =>
  Object.fromEntries(
    ['TARGET', 'BUILD'].flatMap((of) => [
      [`${of}PLATFORM`, `linux/${architecture}`],
      [`${of}OS`, 'linux'],
      [`${of}ARCH`, architecture],
    ]),
  );

/** The short form that people write: without the default registry and the default tag. */
const familiarName = ({ registry, repository, tag, digest }: ImageReference): string => {
  const name =
    registry === 'docker.io' ? repository.replace(/^library\/(?=[^/]+$)/, '') : `${registry}/${repository}`;
  const version = `${tag === null ? '' : `:${tag}`}${digest === null ? '' : `@${digest}`}`;
  return `${name}${version}`.replace(/:latest$/, '');
};
