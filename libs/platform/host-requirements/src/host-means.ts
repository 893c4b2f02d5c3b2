import type { EnvReader } from '@berth/config';

/** What the configuration says about where things are. */
export interface HostMeans {
  readonly nerdctl: string;
  readonly address: string | undefined;
  readonly cniPath: string | undefined;
  readonly subidUser: string;
  /** Folders in which programs are looked for. */
  readonly path: string;
}

const SUBID_USER = 'berth';

/** Reads BERTH_NERDCTL (nerdctl), CONTAINERD_ADDRESS, CNI_PATH and PATH. */
export const readHostMeans = (reader: EnvReader): HostMeans => ({
  nerdctl: reader.string('BERTH_NERDCTL', 'nerdctl'),
  address: reader.optional('CONTAINERD_ADDRESS'),
  cniPath: reader.optional('CNI_PATH'),
  subidUser: SUBID_USER,
  path: reader.string('PATH', ''),
});
