import { parseImageReference } from '@berth/kernel';
import { allowedRegistry, type AllowedHost } from '@berth/operator-file';

/** Whether the operator has marked the registry of an image as one that may be reached without TLS. */
export const isInsecure = (reference: string, registries: readonly AllowedHost[]): boolean => {
  const registry = parseImageReference(reference)?.registry;
  return registry !== undefined && allowedRegistry(registry, registries)?.insecure === true;
};
