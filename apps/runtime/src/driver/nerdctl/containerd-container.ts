import { callContainerd, ContainerdRefusal, type ContainerdScope } from './containerd-call.js';

/** Whether containerd has that container. Errors: `host_unavailable`. */
export const hasContainer = async (scope: ContainerdScope, id: string): Promise<boolean> => {
  try {
    await callContainerd(scope, 'containers.v1.Containers/Get', { 1: id });
    return true;
  } catch (error) {
    if (error instanceof ContainerdRefusal && error.isNotFound) return false;
    throw error;
  }
};
