import type { EnvReader } from '@berth/config';

/** The names, addresses and paths that the host checks use. */
export interface HostMeans {
  readonly nerdctl: string;
  readonly address: string | undefined;
  readonly cniPath: string | undefined;
  /** nerdctl's own settings, by the names of their variables. */
  readonly nerdctlSettings: Readonly<Record<string, string>>;
  readonly subidUser: string;
  readonly runtimeClass: string;
  /** Folders in which programs are looked for. */
  readonly path: string;
}

/** Reads BERTH_NERDCTL (nerdctl), CONTAINERD_ADDRESS, CNI_PATH, NERDCTL_TOML, CONTAINERD_SNAPSHOTTER and PATH; the rest is the operator's decision. */
export const readHostMeans = (
  reader: EnvReader,
  { subidUser, runtimeClass }: Pick<HostMeans, 'subidUser' | 'runtimeClass'>,
): HostMeans => ({
  nerdctl: reader.string('BERTH_NERDCTL', 'nerdctl'),
  address: reader.optional('CONTAINERD_ADDRESS'),
  cniPath: reader.optional('CNI_PATH'),
  nerdctlSettings: present({
    NERDCTL_TOML: reader.optional('NERDCTL_TOML'),
    CONTAINERD_SNAPSHOTTER: reader.optional('CONTAINERD_SNAPSHOTTER'),
  }),
  subidUser,
  runtimeClass,
  path: reader.string('PATH', ''),
});

const present = (variables: Readonly<Record<string, string | undefined>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(variables).filter((entry): entry is [string, string] => entry[1] !== undefined),
  );
