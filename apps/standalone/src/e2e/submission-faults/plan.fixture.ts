import { Dice } from '@berth/testing';
import type { Strike } from './wire.fixture.js';

/** The agent's state when the command is submitted. */
export type Before = 'awake' | 'warm' | 'cold' | 'stopped' | 'restarting';

/** A connection between two parts, named by the part that connects and its target. */
export type WireName =
  | 'client-gateway'
  | 'gateway-nats'
  | 'exec-nats'
  | 'exec-log'
  | 'exec-tables'
  | 'agents-nats'
  | 'agents-log'
  | 'runtime-nats'
  | 'runtime-guest';

export type ProcessName = 'gateway' | 'exec' | 'agents' | 'runtime' | 'guest';

/** Where the command is when the clock of a fault starts: its bytes pass this connection for the first time. */
export type Moment = 'gateway-nats' | 'exec-nats' | 'runtime-nats' | 'runtime-guest';

export type Fault =
  | { readonly kind: 'wire'; readonly wire: WireName; readonly strike: Strike; readonly after: number }
  | {
      readonly kind: 'process';
      readonly process: ProcessName;
      readonly signal: 'SIGKILL' | 'SIGSTOP';
      readonly moment: Moment;
      readonly afterMs: number;
      /** How long the process is stopped; 0 for a kill. */
      readonly forMs: number;
    }
  /** The owner changes the agent in the meantime. */
  | {
      readonly kind: 'life';
      readonly call: 'sleep' | 'stop' | 'restart';
      readonly moment: Moment;
      readonly afterMs: number;
    }
  /** The guest cannot write its journal. */
  | { readonly kind: 'journal'; readonly forMs: number }
  /** Nothing listens on the guest's socket. */
  | { readonly kind: 'socket'; readonly forMs: number }
  /** The same request twice at once, with one Idempotency-Key. */
  | { readonly kind: 'twins' };

/** One submission with its faults, all derived from the seed. */
export interface Plan {
  readonly seed: number;
  readonly before: Before;
  readonly detached: boolean;
  /** How long the command runs after it has left its mark. */
  readonly runsMs: number;
  /** Bytes of padding in the command. */
  readonly padding: number;
  /** Sent with an Idempotency-Key, and retried unless the response is 2xx. */
  readonly repeated: boolean;
  readonly fault: Fault;
  /** A second fault; null in most plans. */
  readonly also: Fault | null;
  /** Whether the owner stops the agent before the retry. */
  readonly stoppedBetween: boolean;
}

/** Every kind of fault by name, with its weight; faults that make all lanes wait for seconds are rare. */
const FAULTS: readonly (readonly [weight: number, fault: (dice: Dice) => Fault])[] = [
  [8, (dice) => wire('client-gateway', dice, 2)],
  [9, (dice) => wire('gateway-nats', dice, 3)],
  [12, (dice) => wire('exec-nats', dice, 6)],
  [6, (dice) => wire('agents-nats', dice, 4)],
  [6, (dice) => wire('agents-log', dice, 4)],
  [8, (dice) => wire('exec-log', dice, 6)],
  [10, (dice) => wire('exec-tables', dice, 8)],
  [8, (dice) => wire('runtime-nats', dice, 4)],
  [18, (dice) => wire('runtime-guest', dice, 2)],
  [4, (dice) => kill('guest', dice)],
  [2, (dice) => kill('exec', dice)],
  [2, (dice) => kill('runtime', dice)],
  [1, (dice) => kill('agents', dice)],
  [0.7, (dice) => kill('gateway', dice)],
  [6, (dice) => freeze('guest', dice)],
  [3, (dice) => freeze('exec', dice)],
  [3, (dice) => freeze('runtime', dice)],
  [2, (dice) => freeze('agents', dice)],
  [13, (dice) => life(dice)],
  [4, (dice) => ({ kind: 'journal', forMs: dice.between(50, 400) })],
  [3, (dice) => ({ kind: 'socket', forMs: dice.between(20, 300) })],
  [4, () => ({ kind: 'twins' })],
];

/** Returns the same plan in every run, on every machine. */
export const planOf = (seed: number): Plan => {
  const dice = new Dice(seed);
  const fault = dice.weighted(FAULTS)(dice);
  return {
    seed,
    fault,
    before: before(fault, dice),
    detached: dice.percent(detachedShare(fault)),
    runsMs: dice.percent(60) ? 0 : dice.between(20, 400),
    padding: dice.percent(8) && !doubles(fault) ? dice.between(50_000, 400_000) : 0,
    repeated: fault.kind === 'twins' || dice.percent(40),
    stoppedBetween: dice.percent(35),
    also: fault.kind !== 'life' && fault.kind !== 'twins' && dice.percent(25) ? life(dice) : null,
  };
};

/** Strikes that outlast all retries leave an outcome unknown: of results that must be stored, or of starts. */
const detachedShare = (fault: Fault): number => {
  if (fault.kind !== 'wire' || fault.strike.forMs < OUTLASTING_MS) return 50;
  if (fault.wire === 'exec-tables') return 10;
  return fault.wire === 'exec-nats' ? 90 : 50;
};

const doubles = (fault: Fault): boolean => fault.kind === 'wire' && fault.strike.how === 'double';

/** Faults on a guest's socket need a running guest; the others apply to agents in every state. */
const before = (fault: Fault, dice: Dice): Before => {
  const needsGuest =
    (fault.kind === 'wire' && fault.wire === 'runtime-guest') ||
    fault.kind === 'socket' ||
    fault.kind === 'journal';
  if (needsGuest) return dice.percent(85) ? 'awake' : 'warm';
  const wakes = fault.kind === 'wire' && fault.wire.startsWith('agents');
  if (wakes)
    return dice.weighted<Before>([
      [3, 'awake'],
      [5, 'warm'],
      [1, 'cold'],
      [1, 'restarting'],
    ]);
  return dice.weighted<Before>([
    [70, 'awake'],
    [17, 'warm'],
    [4, 'cold'],
    [4, 'stopped'],
    [5, 'restarting'],
  ]);
};

/** Most faults end before they are noticed; some outlast the detection of a dead peer. */
const howLong = (dice: Dice): number =>
  dice.percent(92) ? dice.between(20, 300) : dice.between(3_600, 4_200);

/** `exec` retries storing a result for 4 s; the gateway waits 1.15 s and then 3.5 s for a sign of `exec`. */
const OUTLASTING_MS = 4_800;

const howLongOfExec = (dice: Dice, outlasting: number): number =>
  dice.percent(outlasting) ? dice.between(OUTLASTING_MS, OUTLASTING_MS + 600) : howLong(dice);

/** A guest is awaited longer than a service before the agent is put to sleep without it. */
const howLongOfGuest = (dice: Dice): number =>
  dice.percent(88) ? dice.between(20, 300) : dice.between(3_600, 9_000);

const wire = (name: WireName, dice: Dice, chunks: number): Fault => {
  const forMs = howLongOn(name, dice);
  const how = dice.weighted<Strike['how']>([
    [4, 'lose'],
    [4, 'cut'],
    [3, 'hold'],
    [2, 'swallow'],
    [2, 'refuse'],
    [name === 'gateway-nats' || name === 'exec-nats' ? 3 : 0, 'double'],
  ]);
  return { kind: 'wire', wire: name, strike: { how, forMs }, after: dice.between(0, chunks - 1) };
};

const howLongOn = (name: WireName, dice: Dice): number => {
  if (name === 'runtime-guest') return howLongOfGuest(dice);
  if (name === 'exec-tables') return howLongOfExec(dice, 50);
  return name === 'exec-nats' ? howLongOfExec(dice, 15) : howLong(dice);
};

const MOMENTS: readonly Moment[] = ['gateway-nats', 'exec-nats', 'runtime-nats', 'runtime-guest'];
/** Before this moment the process has seen nothing of the command. */
const FIRST_MOMENT: Readonly<Record<ProcessName, number>> = {
  gateway: 0,
  exec: 1,
  agents: 1,
  runtime: 2,
  guest: 3,
};

const momentFor = (process: ProcessName, dice: Dice): Moment =>
  process === 'agents' ? 'exec-nats' : dice.one(MOMENTS.slice(FIRST_MOMENT[process]));

/** A submission takes about ten milliseconds. */
const soon = (dice: Dice): number => (dice.percent(70) ? dice.between(0, 12) : dice.between(0, 200));

const kill = (process: ProcessName, dice: Dice): Fault => ({
  kind: 'process',
  process,
  signal: 'SIGKILL',
  moment: momentFor(process, dice),
  afterMs: soon(dice),
  forMs: 0,
});

const freeze = (process: ProcessName, dice: Dice): Fault => ({
  kind: 'process',
  process,
  signal: 'SIGSTOP',
  moment: momentFor(process, dice),
  afterMs: soon(dice),
  forMs: process === 'guest' ? howLongOfGuest(dice) : howLong(dice),
});

const life = (dice: Dice): Fault => ({
  kind: 'life',
  call: dice.weighted([
    [5, 'sleep'],
    [3, 'stop'],
    [2, 'restart'],
  ]),
  moment: dice.one(MOMENTS),
  afterMs: soon(dice),
});

/** The name under which faults are counted. */
export const nameOf = (fault: Fault): string => {
  switch (fault.kind) {
    case 'wire':
      return `${fault.wire} ${fault.strike.how}`;
    case 'process':
      return `${fault.process} ${fault.signal}`;
    case 'life':
      return `agent ${fault.call}`;
    default:
      return fault.kind;
  }
};
