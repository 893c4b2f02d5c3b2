/** A guest's version and its capabilities beyond the basic set. */
export interface GuestIdentity {
  readonly version: string;
  readonly capabilities: readonly string[];
}

/**
 * The supported guest generations. The old one serves agents created with it (template `legacy`). Add a capability to
 * `current` together with the code that implements it.
 */
export const GENERATIONS = {
  current: { version: '1.1.0', capabilities: ['exec.detached', 'console'] },
  legacy: { version: '0.9.0', capabilities: [] },
} as const satisfies Readonly<Record<string, GuestIdentity>>;

export type Generation = keyof typeof GENERATIONS;

/** Whether `value` is the name of a generation. */
export const isGeneration = (value: string): value is Generation => Object.hasOwn(GENERATIONS, value);
