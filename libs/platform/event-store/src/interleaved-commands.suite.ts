import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { isDomainError } from '@berth/kernel';
import { startStoreFixture, type StoreFixture } from './fixtures/store-fixture.js';
import {
  commandMeta,
  losingStore,
  newTally,
  storeWith,
  tally,
  tallyHandler,
  type Added,
  type TallyCommand,
} from './fixtures/tally-fixture.js';
import type { EventStore, Handled } from './index.js';

interface Step {
  readonly process: number;
  readonly command: TallyCommand;
  /** Few ids, so that they repeat, also with another command (for example with a later time in it). */
  readonly commandId: string;
  readonly expectNew: boolean;
  readonly responseLost: boolean;
}

/** The commands sent concurrently, after all previous ones have completed. */
type Round = readonly Step[];

interface Outcome {
  readonly step: Step;
  readonly handled?: Handled<number, Added>;
  readonly failure?: unknown;
}

const commands = fc.oneof(
  fc.record({ add: fc.constantFrom(1, 300, 600, -500), twice: fc.boolean() }),
  fc.record({ upTo: fc.constantFrom(1, 400, 900) }),
);
const steps: fc.Arbitrary<Step> = fc.record({
  process: fc.nat(2),
  command: commands,
  commandId: fc.nat(11).map((n) => `cmd_${n}`),
  expectNew: fc.boolean(),
  responseLost: fc.nat(9).map((n) => n === 0),
});
const histories = fc.array(fc.array(steps, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 10 });

let fixture: StoreFixture;

/** Calls reach the store, and its responses their callers, in the order that the scheduler chooses. */
const shuffled = (store: EventStore, scheduler: fc.Scheduler): EventStore => {
  const slowly = async <T>(call: () => Promise<T>): Promise<T> => {
    await scheduler.schedule(Promise.resolve());
    const response = call();
    await response.catch(() => undefined);
    await scheduler.schedule(Promise.resolve());
    return response;
  };
  return storeWith(store, {
    read: (...call) => slowly(() => store.read(...call)),
    append: (...call) => slowly(() => store.append(...call)),
  });
};

/** The log as a sequence of amounts and running totals: the model against which results are checked. */
class Model {
  readonly totals: readonly number[];

  constructor(readonly log: readonly { commandId: string; amount: number; position: bigint }[]) {
    this.totals = log.reduce((all, { amount }) => [...all, (all.at(-1) ?? 0) + amount], [0]);
  }

  static async read(id: string): Promise<Model> {
    const recorded = await fixture.direct.read(`tally-${id}`);
    return new Model(
      recorded.map(({ data, metadata, position }) => ({
        commandId: metadata.causationId,
        amount: Number(data['amount']),
        position,
      })),
    );
  }

  of(commandId: string) {
    return this.log.filter((one) => one.commandId === commandId);
  }

  /** The outcome of a command after the first `length` events: its amounts, or 'full'. */
  decision(command: TallyCommand, length: number): readonly number[] | 'full' {
    try {
      return tally.decide(command, this.totals[length] ?? 0).map(({ amount }) => amount);
    } catch {
      return 'full';
    }
  }
}

/** `before` and `after` are the log around the round: no result may be older than its command. */
const checkOutcome = ({ step, handled, failure }: Outcome, before: Model, after: Model): void => {
  const { command, commandId } = step;
  const own = after.of(commandId);
  if (before.of(commandId).length > 0) expect(handled).toMatchObject({ replayed: true });
  if (handled === undefined) {
    const lengths = after.totals.flatMap((total, length) =>
      length >= before.log.length && isDomainError(failure) && failure.context['total'] === total
        ? [length]
        : [],
    );
    expect(lengths.map((length) => after.decision(command, length))).toContain('full');
    return;
  }
  const { state, events, revision, position, replayed } = handled;
  const length = revision === null ? 0 : Number(revision) + 1;
  const amounts = events.map(({ amount }) => amount);
  expect(length).toBeGreaterThanOrEqual(before.log.length);
  expect(state).toBe(after.totals[length]);
  expect(position).toBe(amounts.length === 0 ? null : own.at(-1)?.position);
  if (replayed || amounts.length > 0) expect(amounts).toEqual(own.map(({ amount }) => amount));
  if (!replayed) expect(after.decision(command, length - amounts.length)).toEqual(amounts);
};

/** The events of one command are contiguous and were decided at that point of the log. */
const checkActedOnce = (sent: readonly Step[], model: Model): void => {
  const { log } = model;
  for (const commandId of new Set(log.map((one) => one.commandId))) {
    const first = log.findIndex((one) => one.commandId === commandId);
    const amounts = model.of(commandId).map(({ amount }) => amount);
    expect(log.slice(first, first + amounts.length).map((one) => one.commandId)).toEqual(
      amounts.map(() => commandId),
    );
    const decisions = sent
      .filter((step) => step.commandId === commandId)
      .map((step) => model.decision(step.command, first));
    expect(decisions).toContainEqual(amounts);
  }
};

const play = async (rounds: readonly Round[], scheduler: fc.Scheduler): Promise<void> => {
  const id = newTally();
  const losing = new Set<string>();
  const store = losingStore(shuffled(fixture.direct, scheduler), losing);
  const processes = [0, 1, 2].map(() => tallyHandler(store, { maxConflicts: 20 }));
  const send = async (step: Step): Promise<Outcome> => {
    const { process, command, commandId, expectNew, responseLost } = step;
    if (responseLost) losing.add(commandId);
    const work = processes[process]?.handle(id, command, commandMeta(commandId), { expectNew });
    return await Promise.resolve(work).then(
      (handled) => ({ step, ...(handled && { handled }) }),
      (failure: unknown) => ({ step, failure }),
    );
  };
  let before = await Model.read(id);
  const sent: Step[] = [];
  for (const round of rounds) {
    sent.push(...round);
    const outcomes = await scheduler.waitFor(Promise.all(round.map(send)));
    const after = await Model.read(id);
    for (const outcome of outcomes) {
      const lost = isDomainError(outcome.failure, 'unavailable');
      if (lost)
        expect(sent.some((step) => step.responseLost && step.commandId === outcome.step.commandId)).toBe(
          true,
        );
      else checkOutcome(outcome, before, after);
    }
    before = after;
  }
  checkActedOnce(sent, before);
};

/** Plays so many histories, always the same ones if there is a seed. */
export const describeInterleavedCommands = (parameters: Pick<fc.Parameters, 'numRuns' | 'seed'>): void => {
  beforeAll(async () => {
    fixture = await startStoreFixture();
  });

  afterAll(() => fixture.stop());

  describe('commands sent to three processes in any order', () => {
    it('one at a time have the results of a single process that always reads first', async () => {
      const property = fc.asyncProperty(
        fc.array(steps, { minLength: 1, maxLength: 25 }),
        fc.scheduler(),
        (all, scheduler) =>
          play(
            all.map((step) => [step]),
            scheduler,
          ),
      );
      await fc.assert(property, parameters);
    });

    it('concurrently have the results of executing each alone at some moment during its call', async () => {
      await fc.assert(fc.asyncProperty(histories, fc.scheduler(), play), parameters);
    });
  });
};
