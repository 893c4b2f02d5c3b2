/** What a guest says of itself: its version and what it can do beyond the basics. */
export interface GuestIdentity {
  readonly version: string;
  readonly capabilities: readonly string[];
}

/**
 * The generations of the guest that are in service. The old one lives on for agents that were made with it
 * (template `legacy`); a new capability is added to `current` together with the code that gives it.
 */
export const GENERATIONS = {
  current: { version: '1.1.0', capabilities: ['exec.detached', 'console'] },
  legacy: { version: '0.9.0', capabilities: [] },
} as const satisfies Readonly<Record<string, GuestIdentity>>;

export type Generation = keyof typeof GENERATIONS;

/** Whether `value` names a generation. */
export const isGeneration = (value: string): value is Generation => Object.hasOwn(GENERATIONS, value);
