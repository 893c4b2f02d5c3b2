/** The part of a seccomp profile, as containers have it, that counts here. */
export interface SeccompProfile {
  readonly defaultAction: string;
  readonly syscalls: readonly { readonly names: readonly string[]; readonly action: string }[];
}

/** What runc calls to create a container within a container, and what the default profile forbids even then. */
const NESTED = ['keyctl', 'pivot_root'];

/** The profile of the container that `nerdctl container inspect --mode=native` describes; undefined: it has none. */
export const profileOf = (inspected: string): SeccompProfile | undefined => {
  const parsed: unknown = JSON.parse(inspected);
  const container: unknown = Array.isArray(parsed) ? parsed[0] : parsed;
  const profile = ['Spec', 'linux', 'seccomp'].reduce<unknown>(
    (value, name) =>
      typeof value === 'object' && value !== null ? (value as Record<string, unknown>)[name] : undefined,
    container,
  );
  return isProfile(profile) ? profile : undefined;
};

/** The same profile, under which a container can also contain others. */
export const allowNested = (profile: SeccompProfile): SeccompProfile => ({
  ...profile,
  syscalls: [...profile.syscalls, { names: NESTED, action: 'SCMP_ACT_ALLOW' }],
});

const isProfile = (value: unknown): value is SeccompProfile =>
  typeof value === 'object' &&
  value !== null &&
  'defaultAction' in value &&
  'syscalls' in value &&
  Array.isArray(value.syscalls);
