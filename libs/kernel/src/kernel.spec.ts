import { describe, expect, it } from 'vitest';
import {
  asFinal,
  asRepeated,
  asWithoutEffect,
  DomainError,
  decideGiven,
  deriveId,
  effectOf,
  idOf,
  isDomainError,
  isId,
  isoTime,
  newId,
  withEffect,
  type Decider,
} from './index.js';

describe('ids', () => {
  it('sorts by time of creation', () => {
    const early = newId('agt', 1_700_000_000_000);
    const late = newId('agt', 1_700_000_000_001);
    expect(early < late).toBe(true);
  });

  it('never repeats within one millisecond', () => {
    const ids = new Set(Array.from({ length: 10_000 }, () => newId('exe', 1)));
    expect(ids.size).toBe(10_000);
  });

  it('is well-formed for its own prefix only', () => {
    const id = newId('key');
    expect(isId('key', id)).toBe(true);
    expect(isId('agt', id)).toBe(false);
    for (const odd of ['', 'key_', `${id}x`, id.toUpperCase(), `key_8${'0'.repeat(25)}`, '../etc']) {
      expect(isId('key', odd)).toBe(false);
    }
  });

  it('derives the same well-formed id from the same command', () => {
    const commandId = newId('cmd');
    const agentId = deriveId('agt', commandId);
    expect(isId('agt', agentId)).toBe(true);
    expect(deriveId('agt', commandId)).toBe(agentId);
    expect(deriveId('agt', newId('cmd'))).not.toBe(agentId);
  });

  it('sorts derived ids by the time of their commands', () => {
    const early = deriveId('dlv', newId('cmd', 1_700_000_000_000));
    const late = deriveId('dlv', newId('cmd', 1_700_000_000_001));
    expect(early < late).toBe(true);
  });

  it('refuses to derive an id from anything but a command id', () => {
    for (const odd of ['', 'cmd_', newId('agt'), `${newId('cmd')}/step`]) {
      expect(() => deriveId('exe', odd)).toThrow(
        expect.objectContaining({ kind: 'invalid', code: 'invalid_command_id' }),
      );
    }
  });

  it('derives an id from a time and a UUID: well-formed, always the same, sorted by the time', () => {
    const uuid = '0f8fad5b-d9cb-469f-a165-70867728950e';
    const id = idOf('aud', 1_000, uuid);
    expect(isId('aud', id)).toBe(true);
    expect(idOf('aud', 1_000, uuid)).toBe(id);
    expect(idOf('aud', 1_000, '0f8fad5b-d9cb-469f-a165-70867728950f')).not.toBe(id);
    expect(idOf('aud', 999, 'ffffffff-ffff-4fff-bfff-ffffffffffff') < id).toBe(true);
  });

  it('encodes ids as the TypeID specification requires', () => {
    // The first ten characters of the suffix encode the 48-bit time; 2^48-1 ms is the largest.
    expect(newId('agt', 2 ** 48 - 1).slice(4, 13)).toBe('7zzzzzzzz');
    expect(newId('agt', 0).slice(4, 13)).toBe('000000000');
  });
});

describe('domain errors', () => {
  it('are recognised by name and kind, also from another copy of the module', () => {
    const error = new DomainError('conflict', 'agent_name_taken', 'Choose another name.', { agentId: 'x' });
    expect(isDomainError(error)).toBe(true);
    expect(isDomainError(error, 'conflict')).toBe(true);
    expect(isDomainError(error, 'invalid')).toBe(false);
    expect(isDomainError(new Error('conflict'))).toBe(false);
  });
});

describe('decideGiven', () => {
  const counter: Decider<number, 'add' | 'fail', 'added'> = {
    initial: 0,
    decide: (command, state) => {
      if (command === 'fail') throw new DomainError('invalid', 'refused', `at ${state}`);
      return ['added'];
    },
    evolve: (state) => state + 1,
  };

  it('returns the events, or the error together with the state that the history produced', () => {
    expect(decideGiven(counter, [], 'add').events).toEqual(['added']);
    expect(decideGiven(counter, ['added', 'added'], 'fail').refusal).toMatchObject({ message: 'at 2' });
  });
});

describe('times', () => {
  it('are ISO 8601 UTC with milliseconds', () => expect(isoTime(0)).toBe('1970-01-01T00:00:00.000Z'));
});

describe('the effect of a failed request', () => {
  it('is what the error states', () => {
    const none = new DomainError('unavailable', 'x', 'm', {}, { effect: 'none' });
    const unknown = new DomainError('upstream', 'x', 'm', {}, { effect: 'unknown' });
    expect([effectOf(none), effectOf(unknown)]).toEqual(['none', 'unknown']);
  });

  it.each(['unavailable', 'timeout', 'internal'] as const)('is unknown after %s unless stated', (kind) => {
    expect(effectOf(new DomainError(kind, 'x', 'm'))).toBe('unknown');
  });

  it('is unknown after anything that is not a DomainError', () => {
    expect([effectOf(new Error('x')), effectOf(undefined)]).toEqual(['unknown', 'unknown']);
  });

  it.each(['invalid', 'not_found', 'conflict', 'upstream'] as const)(
    'is undefined after %s unless stated, because the error is the outcome',
    (kind) => expect(effectOf(new DomainError(kind, 'x', 'm'))).toBeUndefined(),
  );

  it('stays unknown once an earlier attempt may have had an effect', () => {
    const none = new DomainError('conflict', 'stale', 'm', { epoch: 1 }, { effect: 'none' });
    expect(withEffect(none, 'none')).toBe(none);
    expect(withEffect(none, 'unknown')).toMatchObject({
      kind: 'conflict',
      code: 'stale',
      context: { epoch: 1 },
      effect: 'unknown',
    });
    const outcome = new DomainError('upstream', 'agent_error', 'm');
    expect(withEffect(outcome, 'unknown')).toBe(outcome);
  });

  it('of a repeated attempt stays unknown, unless the error is the outcome of its command', () => {
    const refused = new DomainError('conflict', 'agent_stopped', 'm', { a: 1 }, { effect: 'none' });
    expect(asRepeated(refused)).toMatchObject({
      code: 'agent_stopped',
      context: { a: 1 },
      effect: 'unknown',
    });
    const final = asFinal(refused);
    expect(final).toMatchObject({ code: 'agent_stopped', context: { a: 1 }, effect: 'final' });
    expect([asRepeated(final), withEffect(final, 'unknown'), asWithoutEffect(final)]).toEqual([
      final,
      final,
      final,
    ]);
    expect(effectOf(final)).toBe('final');
  });

  it('of a request that did nothing is none, unless the error states another', () => {
    expect(asWithoutEffect(new DomainError('unavailable', 'x', 'm'))).toMatchObject({ effect: 'none' });
    const unknown = new DomainError('unavailable', 'x', 'm', {}, { effect: 'unknown' });
    expect(asWithoutEffect(unknown)).toBe(unknown);
  });
});
