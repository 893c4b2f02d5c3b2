import { DomainError, formatImageReference, parseImageReference } from '@berth/kernel';
import type { AllowedHost } from '@berth/operator-file';
import type { ImageOrigin } from './deployment.js';
import { invalid } from './invalid-member.js';

/** Ports that an entry may name although it need not. */
const DEFAULT_PORT = /:443$/;

/** The complete reference of an image that the operator allows. Errors: invalid `invalid_request`, `image_refused`. */
export const checkImage = (text: string, registries: readonly AllowedHost[]): ImageOrigin => {
  const reference = parseImageReference(text);
  if (reference === undefined) throw invalid('image', 'is not the reference of an image');
  const host = reference.registry.replace(DEFAULT_PORT, '');
  const allowed = registries.find((one) => one.host.replace(DEFAULT_PORT, '') === host);
  if (allowed === undefined)
    throw new DomainError(
      'invalid',
      'image_refused',
      `The operator does not allow images of the registry ${reference.registry}.`,
    );
  return { kind: 'image', image: formatImageReference(reference), insecure: allowed.insecure };
};
