import { DomainError, formatImageReference, parseImageReference } from '@berth/kernel';
import { allowedRegistry, type AllowedHost } from '@berth/operator-file';
import type { ImageOrigin } from './deployment.js';
import { invalid } from './invalid-member.js';

/** The complete reference of an image that the operator allows. Errors: invalid `invalid_request`, `image_refused`. */
export const checkImage = (text: string, registries: readonly AllowedHost[]): ImageOrigin => {
  const reference = parseImageReference(text);
  if (reference === undefined) throw invalid('image', 'is not the reference of an image');
  const allowed = allowedRegistry(reference.registry, registries);
  if (allowed === undefined)
    throw new DomainError(
      'invalid',
      'image_refused',
      `The operator does not allow images of the registry ${reference.registry}.`,
    );
  return { kind: 'image', image: formatImageReference(reference), insecure: allowed.insecure };
};
