import type { ExecutionRecord } from '@berth/guest-protocol';
import { describe, expect, it } from 'vitest';
import { planOf } from './plan.fixture.js';
import { markOf, type Attempt } from './submission.fixture.js';
import { brokenGuarantees, type Facts } from './verdict.fixture.js';

const plan = { ...planOf(7), fault: { kind: 'socket', forMs: 1 }, detached: false } as const;
const result = {
  executionId: 'exe_1',
  status: 'completed',
  exitCode: 0,
  stdout: `${markOf(7)}\n`,
  stderr: '',
};
const record = { ...result, status: 'completed', startedAt: 't', endedAt: 't' } satisfies ExecutionRecord;
const refusal = { detail: { code: 'guest_command_unavailable', execution_started: false } };
const unknown = { detail: { executionId: 'exe_1', code: 'execution_outcome_unknown', message: 'm' } };

const responded = (status: number, body: Readonly<Record<string, unknown>>): Attempt => ({
  executionIds: new Set(['exe_1']),
  response: { status, body, replayed: false },
});

const ran: Facts = {
  plan,
  attempts: [responded(200, result)],
  marks: 1,
  records: new Map([['exe_1', record]]),
  views: new Map([['exe_1', { status: 200, body: result }]]),
};
const nothing = {
  marks: 0,
  records: new Map(),
  views: new Map([['exe_1', { status: 404, body: { detail: 'Execution not found' } }]]),
};
const viewed = (body: Readonly<Record<string, unknown>>): Pick<Facts, 'views'> => ({
  views: new Map([['exe_1', { status: 200, body }]]),
});

describe('the guarantees for a submission', () => {
  it('hold for one that ran, one that was refused, and one of unknown outcome either way', () => {
    expect(brokenGuarantees(ran)).toEqual([]);
    expect(brokenGuarantees({ ...ran, ...nothing, attempts: [responded(503, refusal)] })).toEqual([]);
    expect(brokenGuarantees({ ...ran, attempts: [responded(502, unknown)] })).toEqual([]);
    expect(brokenGuarantees({ ...ran, ...nothing, attempts: [responded(502, unknown)] })).toEqual([]);
    expect(
      brokenGuarantees({ ...ran, attempts: [{ executionIds: new Set(['exe_1']), lost: 'reset' }] }),
    ).toEqual([]);
  });

  it.each<[string, string, Partial<Facts>]>([
    [
      'a record of a command reported as not started',
      'A LIE',
      { attempts: [responded(503, refusal)], marks: 0 },
    ],
    [
      'a mark of a command reported as not started',
      'A LIE',
      { attempts: [responded(503, refusal)], records: new Map() },
    ],
    [
      'a refusal with the id of an execution that ran',
      'A LIE',
      { attempts: [responded(502, unknown), responded(503, refusal)] },
    ],
    [
      'the promise in another wording',
      'in another wording',
      {
        attempts: [
          responded(502, { detail: { code: 'execution_outcome_unknown', execution_started: false } }),
        ],
      },
    ],
    ['two runs', 'ran 2 times', { marks: 2 }],
    ['a result without a mark', 'there is no mark', { marks: 0 }],
    ['a command missing from the journal', 'in no journal', { records: new Map() }],
    ['a result that changes', 'and later', viewed({ ...result, stderr: 'x' })],
    ['a result that is lost', 'LOST', { views: nothing.views }],
    [
      'an execution that never ends',
      'STUCK',
      { ...viewed({ executionId: 'exe_1', status: 'running' }), attempts: [responded(502, unknown)] },
    ],
    ['a cancellation without a request', 'No request ended', viewed({ ...result, status: 'cancelled' })],
    [
      'an unexpected response',
      'Unexpected response',
      { attempts: [responded(500, { detail: { code: 'internal_error' } })] },
    ],
    ['no response', 'no response', { attempts: [{ executionIds: new Set(), lost: 'no response in time' }] }],
    [
      'another end than the journal has',
      'The journal knows',
      { ...viewed({ ...result, status: 'failed', exitCode: -1 }), attempts: [responded(502, unknown)] },
    ],
  ])('are broken by %s', (_, expected, facts) => {
    expect(brokenGuarantees({ ...ran, ...facts }).join(' ')).toContain(expected);
  });
});

describe('a plan', () => {
  it('follows from its seed alone', () => {
    expect(planOf(4711)).toEqual(planOf(4711));
    expect(new Set(Array.from({ length: 200 }, (_, seed) => JSON.stringify(planOf(seed)))).size).toBe(200);
  });
});
