import { INSIDE } from '../paths-inside.js';
import type { BaseLayout } from './base-layouts.js';

/** Where BuildKit's programs are in the container of a build. */
export const PROGRAMS = { buildkitd: '/.berth/buildkitd', buildctl: '/.berth/buildctl' } as const;

/** Where the certificates are that BuildKit trusts when a Dockerfile adds a file of the Web. */
export const CERTIFICATES = '/.berth/certificates.pem';

/** Below the temporary folder of the build, which is on its disk. */
export const OUTPUT = 'image';

/** Where the layout of an image is in the container of a build. */
export const baseFolder = (index: number): string => `/.berth/bases/${index}`;

/** BuildKit's own. Named as the one that a line `# syntax=` asks for, it is not replaced by an image of a registry. */
const FRONTEND = 'dockerfile.v0';
const STATE = `${INSIDE.tmp}/buildkit`;
const POLICY = `${INSIDE.tmp}/policy.json`;
const LOG = `${INSIDE.tmp}/buildkitd.log`;
const SOCKET = '/run/buildkit.sock';
const ADDRESS = `--addr=unix://${SOCKET}`;

/**
 * The host provides every image: only it checks registries against the operator's list, and only it reaches those of the
 * operator's network.
 */
const NO_REGISTRY = {
  version: 1,
  rules: [{ action: 'DENY', selector: { identifier: 'docker-image://*' } }],
};

/** In seconds. The daemon of a small agent on a busy host takes long to respond. */
const CONNECTED_WITHIN_S = 120;

/** Exit code of a build whose daemon did not start. */
export const NO_DAEMON = 125;

/**
 * Starts a BuildKit that lasts as long as the build. Its steps are containers within that of the build: in namespaces of
 * their own for processes and mounts, and in the control group, the network and the user namespace of the build. It
 * keeps its cache, because its disk ends with it. Layers are not compressed: they never leave the host.
 */
export const buildScript = (bases: readonly Omit<BaseLayout, 'folder'>[]): string => `
echo '${JSON.stringify(NO_REGISTRY)}' > ${POLICY}
PATH=$PATH:${INSIDE.kit}/lib ${PROGRAMS.buildkitd} --rootless --root=${STATE} ${ADDRESS} --containerd-worker=false \\
  --oci-worker-net=host --oci-worker-gc=false > ${LOG} 2>&1 &
until ${PROGRAMS.buildctl} ${ADDRESS} debug workers > /dev/null 2>&1; do
  kill -0 $! 2> /dev/null || { cat ${LOG}; exit ${NO_DAEMON}; }
  sleep 0.1
done
exec ${PROGRAMS.buildctl} ${ADDRESS} --timeout=${CONNECTED_WITHIN_S} build --progress=plain --frontend=${FRONTEND} \\
  --local=context=${INSIDE.code} --local=dockerfile=${INSIDE.code} \\
  --output=type=oci,tar=false,compression=uncompressed,dest=${INSIDE.tmp}/${OUTPUT} \\
  --source-policy-file=${POLICY} --opt=cmdline=${FRONTEND} ${bases.map(toOptions).join(' ')}
`;

/** Makes BuildKit take an image from its layout instead of a registry. */
const toOptions = ({ name, digest }: Omit<BaseLayout, 'folder'>, index: number): string =>
  `--oci-layout=base${index}=${baseFolder(index)} '--opt=context:${name}=oci-layout://base${index}@${digest}'`;
