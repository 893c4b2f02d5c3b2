import { guestEnv } from '@berth/guest-protocol';
import { runtimeClassOf } from '@berth/host-requirements';
import type { BoxSpec } from '../box-spec.js';
import { runArguments, type ContainerParts } from './nerdctl-arguments.js';
import type { NerdctlHost } from './nerdctl-host.js';
import { guestUserOf, guestVariablesOf } from './paths-inside.js';

/** What is known of a container before it is created. */
export interface NewContainer extends Pick<ContainerParts, 'image' | 'disk' | 'subidUser' | 'idFile'> {
  /** The host's default class. */
  readonly runtimeClass: string;
}

/** Prepares the control groups and the code of a container on the host; returns the arguments that create it. */
export const createArguments = async (
  spec: BoxSpec,
  { instance, inside, kit, sharedFiles, scope, openFiles, network, groups }: NerdctlHost,
  { runtimeClass, ...container }: NewContainer,
): Promise<readonly string[]> => {
  const { agentId, source } = spec;
  return runArguments(spec, instance, {
    ...container,
    runtime: runtimeClassOf(spec.runtimeClass ?? runtimeClass).runtime,
    inside,
    kit: kit.folder,
    code:
      source.kind === 'image' || source.kind === 'desktop' ? null : await sharedFiles.share(source.folder),
    resolvConf: network.resolvConf,
    groups: await groups.create(agentId, spec.limits, guestUserOf(spec.user)),
    groupParent: groups.parentOf(agentId),
    command: kit.command,
    openFiles,
    env: { ...spec.env, ...guestVariablesOf(spec.user), [guestEnv.mark]: `${scope.namespace}/${agentId}` },
  });
};
