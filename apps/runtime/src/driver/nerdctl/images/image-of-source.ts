import type { OperatorFile } from '@berth/operator-file';
import type { BoxSource } from '../../box-spec.js';
import { DESKTOP_IMAGE } from './desktop-image.js';
import type { ImageStore, ObtainedImage } from './image-store.js';
import { isInsecure } from './insecure-registry.js';

/** Obtains the image that a box runs in. Errors: `image_unavailable`, `host_unavailable`. */
export const imageOfSource = (
  source: BoxSource,
  images: Pick<ImageStore, 'obtain'>,
  { runtime, deploy }: Pick<OperatorFile, 'runtime' | 'deploy'>,
): Promise<ObtainedImage> => {
  if (source.kind === 'desktop') return images.obtain(DESKTOP_IMAGE, 'never', false);
  const reference = referenceOf(source, runtime.image);
  // A deployment has pulled its image.
  const policy = source.kind === 'image' && runtime.pull === 'always' ? 'missing' : runtime.pull;
  return images.obtain(reference, policy, isInsecure(reference, deploy.registries));
};

const referenceOf = (source: Exclude<BoxSource, { kind: 'desktop' }>, otherwise: string): string => {
  if (source.kind === 'image') return source.reference;
  return source.kind === 'template' ? (source.image ?? otherwise) : otherwise;
};
