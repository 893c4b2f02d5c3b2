import { Dice } from '@berth/testing';

/** What a chat goes through; `look` asks for the agent without waking it. */
export const STEPS = [
  'look',
  'wake',
  'budget',
  'conversation',
  'log-read',
  'log-append',
  'hand-over',
  'journal',
] as const;
export type Step = (typeof STEPS)[number];

/**
 * What happens to a step: `refuse` (not done), `lose` (done, and its answer is lost), `slow`, `late` (done after the
 * caller was told), `double` (done twice at once), `kill` (its process dies before it), `kill-after` (behind it).
 */
export type How = 'refuse' | 'lose' | 'slow' | 'late' | 'double' | 'kill' | 'kill-after';

export interface Strike {
  readonly step: Step;
  /** Which time the step is done by this try, from 0. */
  readonly nth: number;
  readonly how: How;
}

/** What the program does with the message. */
export type Program = 'answers' | 'answers-slowly' | 'fails' | 'dies';

export type AgentState = 'awake' | 'asleep' | 'stopped';

/** One try of a command, and what strikes it. */
export interface Try {
  readonly strikes: readonly Strike[];
  /** The agent is brought to that state before; null leaves it. */
  readonly agent: AgentState | null;
  /** The next try begins while this one runs, in another process. */
  readonly overlapped: boolean;
}

export interface Message {
  readonly program: Program;
  readonly conversationId: string | null;
  readonly tries: readonly Try[];
}

/** Messages to one agent, one after the other, and what happens to them, all of it from the seed. */
export interface Plan {
  readonly seed: number;
  readonly agent: AgentState;
  readonly messages: readonly Message[];
}

const MOST_TRIES = 4;

/** The same for every run, machine and time. */
export const planOf = (seed: number): Plan => {
  const dice = new Dice(seed);
  return {
    seed,
    agent: dice.weighted<AgentState>([
      [6, 'awake'],
      [4, 'asleep'],
    ]),
    messages: Array.from({ length: dice.between(1, 3) }, () => messageOf(dice)),
  };
};

const messageOf = (dice: Dice): Message => ({
  program: dice.weighted<Program>([
    [7, 'answers'],
    [3, 'answers-slowly'],
    [2, 'fails'],
    [1, 'dies'],
  ]),
  conversationId: dice.percent(25) ? `conversation ${String(dice.between(1, 2))}` : null,
  tries: Array.from({ length: MOST_TRIES }, (_, index) => tryOf(dice, index)),
});

const tryOf = (dice: Dice, index: number): Try => {
  const struck = index === 0 ? 90 : 40;
  const strikes = index < MOST_TRIES - 1 && dice.percent(struck) ? [strikeOf(dice)] : [];
  if (strikes.length > 0 && dice.percent(30)) strikes.push(strikeOf(dice));
  return {
    strikes,
    agent: dice.percent(12) ? dice.one<AgentState>(['awake', 'asleep', 'stopped']) : null,
    overlapped: dice.percent(20),
  };
};

const strikeOf = (dice: Dice): Strike => ({
  step: dice.weighted<Step>([
    [1, 'look'],
    [1, 'wake'],
    [1, 'budget'],
    [1, 'conversation'],
    [2, 'log-read'],
    [5, 'log-append'],
    [6, 'hand-over'],
    [2, 'journal'],
  ]),
  nth: dice.percent(70) ? 0 : dice.between(1, 2),
  how: dice.weighted<How>([
    [3, 'refuse'],
    [4, 'lose'],
    [2, 'slow'],
    [2, 'late'],
    [2, 'double'],
    [2, 'kill'],
    [3, 'kill-after'],
  ]),
});
