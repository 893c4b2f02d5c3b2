import { callContainerd, fieldsOf, messageOf, type ContainerdScope } from './containerd-call.js';
import { GUEST_OF_ROOT } from './paths-inside.js';

// Numbers of fields in containerd's services/containers/v1 and in the messages of protobuf.
const CONTAINER = 1;
const UPDATE_MASK = 2;
const ID = 1;
const SPEC = 5;
const TYPE = 1;
const VALUE = 2;
const PATHS = 1;

/** Flag of the system calls that create and enter namespaces. */
const CLONE_NEWUSER = 0x10000000;

/** With control groups of version 1, a folder in memory that belongs to root inside. */
const GROUPS = '/sys/fs/cgroup';
/** Belongs to root inside too. Devices and links need no more. */
const DEV_SIZE = 'size=64k';

/** The members of an OCI runtime configuration that this file changes. */
interface RuntimeSpec {
  readonly mounts: readonly {
    readonly destination: string;
    readonly options?: readonly string[];
    readonly [other: string]: unknown;
  }[];
  readonly process: {
    readonly capabilities?: {
      readonly permitted?: readonly string[];
      readonly inheritable?: readonly string[];
      readonly ambient?: readonly string[];
    };
    readonly [other: string]: unknown;
  };
  readonly linux: {
    readonly readonlyPaths?: readonly string[];
    readonly seccomp?: { readonly syscalls?: readonly object[]; readonly [other: string]: unknown };
    readonly [other: string]: unknown;
  };
  readonly [other: string]: unknown;
}

/**
 * Makes process 1 of a container that was created and not started yet the guest of an agent that is root inside, for which
 * nerdctl has no options. Errors: `host_unavailable`.
 */
export const becomeGuestOfRoot = async (scope: ContainerdScope, id: string): Promise<void> => {
  const found = await callContainerd(scope, 'containers.v1.Containers/Get', { [ID]: id });
  const [spec = Buffer.alloc(0)] = fieldsOf(fieldsOf(found, CONTAINER)[0] ?? Buffer.alloc(0), SPEC);
  const [type = '', value = ''] = [TYPE, VALUE].map((field) => String(fieldsOf(spec, field)[0] ?? ''));
  const changed = JSON.stringify(guestOfRoot(JSON.parse(value) as RuntimeSpec));
  await callContainerd(scope, 'containers.v1.Containers/Update', {
    [CONTAINER]: messageOf({ [ID]: id, [SPEC]: messageOf({ [TYPE]: type, [VALUE]: changed }) }),
    [UPDATE_MASK]: messageOf({ [PATHS]: 'spec' }),
  });
};

/**
 * The configuration with the guest as a user that is not root and keeps its capabilities, with the two system calls that
 * lead into a user namespace, and without room in memory but in the folders for it. Throws for one without a filter of
 * system calls.
 */
export const guestOfRoot = (spec: RuntimeSpec): RuntimeSpec => {
  const { capabilities } = spec.process;
  const { seccomp, readonlyPaths = [] } = spec.linux;
  const permitted = capabilities?.permitted;
  if (seccomp === undefined || permitted === undefined)
    throw new Error('The container has no filter of system calls, or no capabilities.');
  const allowed = (name: string, index: number): object => ({
    names: [name],
    action: 'SCMP_ACT_ALLOW',
    args: [{ index, value: CLONE_NEWUSER, op: 'SCMP_CMP_EQ' }],
  });
  const syscalls = [...(seccomp.syscalls ?? []), allowed('unshare', 0), allowed('setns', 1)];
  const mounts = spec.mounts.map((mount) =>
    mount.destination === '/dev' ? { ...mount, options: [...(mount.options ?? []), DEV_SIZE] } : mount,
  );
  return {
    ...spec,
    mounts,
    process: {
      ...spec.process,
      user: { uid: GUEST_OF_ROOT, gid: GUEST_OF_ROOT },
      capabilities: { ...capabilities, inheritable: permitted, ambient: permitted },
    },
    linux: { ...spec.linux, seccomp: { ...seccomp, syscalls }, readonlyPaths: [...readonlyPaths, GROUPS] },
  };
};
