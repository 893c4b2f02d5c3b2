import type { EnvReader } from '@berth/config';

/** The names, addresses and paths that the host checks use. */
export interface HostMeans {
  readonly nerdctl: string;
  readonly address: string | undefined;
  readonly cniPath: string | undefined;
  readonly subidUser: string;
  readonly runtimeClass: string;
  /** Folders in which programs are looked for. */
  readonly path: string;
}

/** Reads BERTH_NERDCTL (nerdctl), CONTAINERD_ADDRESS, CNI_PATH and PATH; the rest is the operator's decision. */
export const readHostMeans = (
  reader: EnvReader,
  { subidUser, runtimeClass }: Pick<HostMeans, 'subidUser' | 'runtimeClass'>,
): HostMeans => ({
  nerdctl: reader.string('BERTH_NERDCTL', 'nerdctl'),
  address: reader.optional('CONTAINERD_ADDRESS'),
  cniPath: reader.optional('CNI_PATH'),
  subidUser,
  runtimeClass,
  path: reader.string('PATH', ''),
});
