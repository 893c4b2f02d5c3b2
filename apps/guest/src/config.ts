import { isAbsolute } from 'node:path';
import { GENERATIONS, guestEnv, isGeneration, type Generation } from '@berth/guest-protocol';
import type { NamespaceSettings } from './user-namespace.js';

/** Configuration that a guest needs at start. Secrets arrive later, over the socket. */
export interface GuestConfig {
  readonly socket: string;
  readonly logs: string;
  readonly journal: string;
  readonly generation: Generation;
  /** A shell shipped with the guest, for images without one. */
  readonly shell?: string;
  /** For an agent that is root inside. */
  readonly namespace?: NamespaceSettings;
}

/** Throws an error that names the missing or invalid variable. */
export const readGuestConfig = (env: Readonly<Record<string, string | undefined>>): GuestConfig => {
  const path = (name: string): string => {
    const value = env[name];
    if (value === undefined || !isAbsolute(value)) throw new Error(`${name} must be an absolute path.`);
    return value;
  };
  const generation = env[guestEnv.generation] ?? 'current';
  if (!isGeneration(generation)) {
    throw new Error(`${guestEnv.generation} must be one of ${Object.keys(GENERATIONS).join(', ')}.`);
  }
  return {
    socket: path(guestEnv.socket),
    logs: path(guestEnv.logs),
    journal: path(guestEnv.journal),
    generation,
    ...(env[guestEnv.shell] === undefined ? {} : { shell: path(guestEnv.shell) }),
    ...(env[guestEnv.namespace] === undefined
      ? {}
      : { namespace: { link: path(guestEnv.namespace), holder: path(guestEnv.holdNamespace) } }),
  };
};
