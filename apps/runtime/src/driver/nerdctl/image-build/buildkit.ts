import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { findProgram } from '@berth/host-requirements';
import { RUNC } from '../paths-inside.js';

/** The programs of the host that build a Dockerfile. */
export interface BuildKit {
  readonly buildkitd: string;
  readonly buildctl: string;
  /** A file with the authorities that this host trusts; undefined: it has none in the usual places. */
  readonly certificates: string | undefined;
}

const CERTIFICATES: readonly string[] = [
  '/etc/ssl/certs/ca-certificates.crt',
  '/etc/pki/tls/certs/ca-bundle.crt',
  '/etc/ssl/ca-bundle.pem',
  '/etc/ssl/cert.pem',
];

/** Undefined if BuildKit is not on the path, or the kit has no runc for its steps. */
export const findBuildKit = (path: string, kit: string): BuildKit | undefined => {
  if (!existsSync(join(kit, 'lib', basename(RUNC)))) return undefined;
  const [buildkitd, buildctl] = [findProgram('buildkitd', path), findProgram('buildctl', path)];
  const certificates = CERTIFICATES.find((file) => existsSync(file));
  return buildkitd === undefined || buildctl === undefined
    ? undefined
    : { buildkitd, buildctl, certificates };
};
