import { callContainerd, ContainerdRefusal, type ContainerdScope } from '../containerd-call.js';

/** The complete name of `berth-desktop`, which operators build from `infra/images/desktop`; no registry has it. */
export const DESKTOP_IMAGE = 'docker.io/library/berth-desktop:latest';

/** Knows whether the image is on this host. */
export class DesktopImage {
  #isHere = false;

  /** While containerd does not respond, what it said last. */
  async isHere(scope: ContainerdScope): Promise<boolean> {
    try {
      await callContainerd(scope, 'images.v1.Images/Get', { 1: DESKTOP_IMAGE });
      this.#isHere = true;
    } catch (error) {
      if (error instanceof ContainerdRefusal && error.isNotFound) this.#isHere = false;
    }
    return this.#isHere;
  }
}
