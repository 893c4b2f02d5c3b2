import type { Resources } from './agent.js';

export const haveSameSizes = (one: Resources, other: Resources): boolean =>
  one.memMb === other.memMb && one.vcpus === other.vcpus && one.diskGb === other.diskGb;
