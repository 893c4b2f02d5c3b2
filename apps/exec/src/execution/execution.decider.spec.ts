import { decideGiven } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { executionDecider, type ExecutionCommand } from './execution.decider.js';
import type { Ending, ExecutionEvent, Submission } from './execution.js';

const at = '2026-11-21T10:00:00.000Z';
const named = { executionId: 'exe_1', agentId: 'agt_1' };
const submission: Submission = {
  ...named,
  accountId: 'acc_1',
  host: 'hst_1',
  epoch: 1,
  detached: false,
  timeoutSeconds: 60,
  commandBytes: 4,
  commandSha256: 'aa',
  at,
};
const ending: Ending = {
  status: 'completed',
  exitCode: 0,
  startedAt: at,
  stdoutBytes: 1,
  stderrBytes: 0,
  at,
};

const submitted: ExecutionEvent = { type: 'ExecutionSubmitted', data: submission };
const rerouted: ExecutionEvent = {
  type: 'ExecutionRerouted',
  data: { ...named, host: 'hst_1', epoch: 2, at },
};
const refused: ExecutionEvent = { type: 'ExecutionRefused', data: { ...named, code: 'x', at } };
const cancelRequested: ExecutionEvent = { type: 'ExecutionCancelRequested', data: { ...named, at } };
const ended: ExecutionEvent = { type: 'ExecutionEnded', data: { ...named, ...ending } };

const submit: ExecutionCommand = { type: 'Submit', ...submission };
const reroute: ExecutionCommand = { type: 'Reroute', host: 'hst_1', epoch: 2, at };
const refuse: ExecutionCommand = { type: 'Refuse', code: 'x', at };
const requestCancel: ExecutionCommand = { type: 'RequestCancel', at };
const end: ExecutionCommand = { type: 'End', ...ending };

const given = (history: readonly ExecutionEvent[], command: ExecutionCommand): readonly ExecutionEvent[] =>
  decideGiven(executionDecider, history, command).events;

describe('an execution', () => {
  it('can be precluded only before it is submitted, and is then never submitted', () => {
    const preclude: ExecutionCommand = { type: 'Preclude', ...named, code: 'x', at };
    expect(given([], preclude)).toEqual([refused]);
    expect(given([refused], submit)).toEqual([]);
    for (const history of [[submitted], [submitted, ended], [refused]])
      expect(given(history, preclude)).toEqual([]);
  });

  it('is submitted once', () => {
    expect(given([], submit)).toEqual([submitted]);
    expect(given([submitted], submit)).toEqual([]);
    expect(given([submitted, ended], submit)).toEqual([]);
  });

  it('does not exist before it is submitted', () => {
    for (const command of [reroute, refuse, requestCancel, end]) expect(given([], command)).toEqual([]);
  });

  it('ends, is refused, gets a request to cancel, or is rerouted', () => {
    expect(given([submitted], end)).toEqual([ended]);
    expect(given([submitted], refuse)).toEqual([refused]);
    expect(given([submitted], requestCancel)).toEqual([cancelRequested]);
    expect(given([submitted], reroute)).toEqual([rerouted]);
    expect(given([submitted, rerouted, cancelRequested], end)).toEqual([ended]);
  });

  it('keeps its first outcome', () => {
    for (const outcome of [ended, refused]) {
      for (const command of [end, refuse, requestCancel, reroute])
        expect(given([submitted, outcome], command)).toEqual([]);
    }
  });

  it('is rerouted once for each epoch, and never after a request to cancel', () => {
    expect(given([submitted, rerouted], reroute)).toEqual([]);
    expect(given([submitted, cancelRequested], reroute)).toEqual([]);
  });

  it('is withdrawn only by the attempt that was accepted', () => {
    const accepted: ExecutionEvent = { type: 'ExecutionSubmitted', data: { ...submission, attempt: 'one' } };
    const withdraw = (attempt: string): ExecutionCommand => ({ type: 'Withdraw', attempt, code: 'x', at });
    expect(given([accepted], withdraw('one'))).toEqual([refused]);
    for (const history of [[], [submitted], [accepted, ended], [refused]])
      expect(given(history, withdraw('one'))).toEqual([]);
    expect(given([accepted], withdraw('two'))).toEqual([]);
  });

  it('records a request to cancel once', () => {
    expect(given([submitted, cancelRequested], requestCancel)).toEqual([]);
  });

  it('never writes a command or its output to the log', () => {
    const members = [...given([], submit), ...given([submitted], end)].flatMap(({ data }) =>
      Object.keys(data),
    );
    const expected = [...Object.keys(submission), ...Object.keys(named), ...Object.keys(ending)];
    expect([...members].sort()).toEqual(expected.sort());
    expect(members).not.toEqual(expect.arrayContaining(['command']));
    expect(members).not.toEqual(expect.arrayContaining(['stdout']));
  });
});
