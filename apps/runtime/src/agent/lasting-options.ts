import type { ContainerOptions, Template } from '@berth/templates';

/** What an agent's template says about its container even while the agent runs a deployed version, and its builds. */
export type LastingOptions = Pick<ContainerOptions, 'runtimeClass' | 'network' | 'volumePath'>;

export const UNRESTRICTED: LastingOptions = { runtimeClass: null, network: null, volumePath: null };

/** `stored`: the options of the agent's version, for a template that the operator has removed since. */
export const lastingOptionsOf = (
  template: Pick<Template, 'container'> | undefined,
  stored: LastingOptions = UNRESTRICTED,
): LastingOptions => {
  const { runtimeClass, network, volumePath } = template?.container ?? stored;
  return { runtimeClass, network, volumePath };
};
