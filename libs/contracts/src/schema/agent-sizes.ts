import Type from 'typebox';
import { number, whole } from './members.js';

/** Memory of an agent in MiB. */
export const memMb = (annotations: object = {}) => whole(128, 65_536, annotations);
/** CPUs of an agent. */
export const vcpus = (annotations: object = {}) => number(0.1, 32, annotations);
/** Size of an agent's volume in GiB. */
export const diskGb = (annotations: object = {}) => whole(1, 1_024, annotations);

/** Bounds for a value other than 0, which means always on. */
const IDLE_SECONDS = { least: 15, most: 604_800 };

/** Seconds without activity until an agent sleeps. */
export const idleSeconds = (annotations: object = {}) =>
  Type.Refine(
    whole(0, IDLE_SECONDS.most, annotations),
    (seconds) => seconds === 0 || seconds >= IDLE_SECONDS.least,
    () => `must be 0, or a whole number from ${IDLE_SECONDS.least} to ${IDLE_SECONDS.most}`,
  );

/** The values that `idleSeconds` accepts, for descriptions. */
export const IDLE_SECONDS_TEXT = `0 (always on) or ${IDLE_SECONDS.least} to ${IDLE_SECONDS.most}`;
