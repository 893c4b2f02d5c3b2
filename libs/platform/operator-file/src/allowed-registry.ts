import type { AllowedHost } from './parse-operator-file.js';

/** Ports that an entry may name although it need not. */
const DEFAULT_PORT = /:443$/;

/** The entry that allows images of a registry (`host` or `host:port`); undefined if there is none. */
export const allowedRegistry = (
  registry: string,
  registries: readonly AllowedHost[],
): AllowedHost | undefined => {
  const host = registry.replace(DEFAULT_PORT, '');
  return registries.find((one) => one.host.replace(DEFAULT_PORT, '') === host);
};
