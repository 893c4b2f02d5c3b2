import { callContainerd, ContainerdRefusal, type ContainerdScope } from '../containerd-call.js';

/** The complete name of `berth-desktop`, which operators build from `infra/images/desktop`; no registry has it. */
export const DESKTOP_IMAGE = 'docker.io/library/berth-desktop:latest';

/** Whether the image is on this host. Errors: `host_unavailable`. */
export const hasDesktopImage = async (scope: ContainerdScope): Promise<boolean> => {
  try {
    await callContainerd(scope, 'images.v1.Images/Get', { 1: DESKTOP_IMAGE });
    return true;
  } catch (error) {
    if (error instanceof ContainerdRefusal && error.isNotFound) return false;
    throw error;
  }
};
