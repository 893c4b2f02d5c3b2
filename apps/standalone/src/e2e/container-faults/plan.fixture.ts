import { Dice } from '@berth/testing';

/** What is done to an agent, or to its host, when the fault strikes. */
export type Operation = 'create' | 'start' | 'stop' | 'sleep' | 'wake' | 'remove' | 'build' | 'pull';

/** When the fault strikes, seen from one call to nerdctl: before it begins, while it runs, before its result is read. */
export type Phase = 'before' | 'within' | 'after';

/** A call to nerdctl, by its command. */
export interface Step {
  readonly operation: Operation;
  readonly call: 'run' | 'create' | 'start' | 'rm' | 'pull' | 'image' | 'tag' | 'load';
  readonly phase: Phase;
}

export type Victim = 'nerdctl' | 'containerd' | 'shim' | 'guest';

export interface Plan extends Step {
  readonly seed: number;
  readonly victim: Victim;
  /** `kill`: KILL. `hang`: STOP, and CONT after every deadline. */
  readonly how: 'kill' | 'hang';
  /** Between the begin of the call and the fault, in phase `within`. */
  readonly afterMs: number;
}

/** Every operation with the calls that it makes. */
const CALLS: Readonly<Record<Operation, readonly Step['call'][]>> = {
  create: ['run'],
  start: ['run'],
  stop: ['rm'],
  sleep: ['rm'],
  wake: ['run'],
  remove: ['rm'],
  build: ['run', 'rm'],
  // An image whose root file system is writable is created before it is started.
  pull: ['pull', 'image', 'tag', 'load', 'create', 'start'],
};
const PHASES: readonly Phase[] = ['before', 'within', 'after'];
const VICTIMS: readonly Victim[] = ['nerdctl', 'containerd', 'shim', 'guest'];
/** A prime that shares no factor with the number of faults: neighbouring seeds have little in common. */
const STRIDE = 97;

/** All steps. */
const STEPS: readonly Step[] = Object.entries(CALLS).flatMap(([operation, calls]) =>
  calls.flatMap((call) => PHASES.map((phase) => ({ operation: operation as Operation, call, phase }))),
);

/** The steps of the deployments, without those that only their end takes. */
export const DEPLOY_STEPS: readonly Step[] = STEPS.filter(
  ({ operation, phase }) => (operation === 'build' || operation === 'pull') && phase !== 'within',
);

/** A container's own processes exist while it is created, from some moment on, and as long as it is not removed. */
const exists = ({ operation, call, phase }: Step, victim: Victim): boolean => {
  if (victim === 'nerdctl' || victim === 'containerd') return true;
  if (call === 'run' || call === 'start') return phase !== 'before';
  // The guest has ended before its container is removed.
  return victim === 'shim' && call === 'rm' && phase !== 'after' && operation !== 'build';
};

/** Every fault that can strike. */
const FAULTS = STEPS.flatMap((step) =>
  VICTIMS.filter((victim) => exists(step, victim)).flatMap((victim) =>
    (['kill', 'hang'] as const)
      // A program that has ended cannot hang.
      .filter((how) => !(victim === 'nerdctl' && step.phase === 'after' && how === 'hang'))
      .map((how) => ({ ...step, victim, how })),
  ),
);

/** Number of different faults: so many seeds in a row strike with each of them once. */
export const FAULT_COUNT = FAULTS.length;

/** Returns the same plan in every run, on every machine. */
export const planOf = (seed: number): Plan => {
  const fault = FAULTS[(seed * STRIDE) % FAULTS.length];
  if (fault === undefined) throw new Error('A seed is a positive integer.');
  return { ...fault, seed, afterMs: new Dice(seed).between(0, 200) };
};

const stepName = ({ operation, call, phase }: Step): string => `${operation}: ${phase} nerdctl ${call}`;

export const nameOf = (plan: Plan): string => `${stepName(plan)}, ${plan.victim} ${plan.how}`;
