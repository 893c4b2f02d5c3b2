import { newId } from '@berth/kernel';
import { CUT_MARK, KEPT_CHARACTERS } from '@berth/guest-protocol';
import { describe, expect, it } from 'vitest';
import { readExecution, readLegacyReport, readRunningExecutions } from './execution-responses.js';
import { readFileChange } from './file-responses.js';

const executionId = newId('exe');
const time = '2026-01-02T03:04:05.678Z';
const over = {
  executionId,
  status: 'completed',
  exitCode: 0,
  stdout: '',
  stderr: '',
  startedAt: time,
  endedAt: time,
};
const unreachable = expect.objectContaining({ code: 'guest_unreachable' }) as Error;

describe('a guest’s report of an execution', () => {
  it('is accepted in the agreed shape, including two full streams', () => {
    const full = CUT_MARK + '😀'.repeat(KEPT_CHARACTERS);
    const report = { ...over, stdout: full, stderr: full };
    expect(readExecution(report, executionId)).toEqual(report);
  });

  it('has no result while it runs, and an exit code only if it completed', () => {
    expect(readExecution({ ...over, status: 'running', exitCode: 7, stdout: 'x' }, executionId)).toEqual({
      executionId,
      status: 'running',
      exitCode: null,
      stdout: null,
      stderr: null,
      startedAt: time,
      endedAt: null,
    });
    for (const status of ['timed_out', 'cancelled', 'failed']) {
      expect(readExecution({ ...over, status, exitCode: 7 }, executionId)).toMatchObject({
        status,
        exitCode: -1,
      });
    }
  });

  it.each([
    null,
    [],
    'text',
    { ...over, executionId: newId('exe') },
    { ...over, status: 'done' },
    { ...over, exitCode: '0' },
    { ...over, exitCode: 0.5 },
    { ...over, exitCode: 1e300 },
    { ...over, stdout: null },
    { ...over, stderr: 'x'.repeat(CUT_MARK.length + 2 * KEPT_CHARACTERS + 1) },
    { ...over, startedAt: 'yesterday' },
    { ...over, startedAt: 5 },
    { ...over, endedAt: null },
  ])('is rejected in any other shape (%#)', (body) => {
    expect(() => readExecution(body, executionId)).toThrow(unreachable);
  });

  it('lists only executions as running', () => {
    expect(readRunningExecutions({ executionIds: [executionId, '../x', 5, newId('agt')] })).toEqual([
      executionId,
    ]);
    expect(() => readRunningExecutions({})).toThrow(unreachable);
  });

  it('of an older guest has an exit code and a text', () => {
    expect(readLegacyReport({ exitCode: 1, output: 'x', more: 1 })).toEqual({ exitCode: 1, output: 'x' });
    for (const body of [{ exitCode: 1 }, { output: 'x' }, { exitCode: null, output: 'x' }]) {
      expect(() => readLegacyReport(body)).toThrow(unreachable);
    }
  });
});

describe('a guest’s report of a changed file', () => {
  it('is accepted in the agreed shape', () => {
    const change = { path: '/v/b', from: '/v/a', name: 'b', size: 0 };
    expect(readFileChange({ ...change, more: 1 })).toEqual(change);
    expect(readFileChange({ path: '/v/b', name: 'b', size: 5 })).toEqual({
      path: '/v/b',
      name: 'b',
      size: 5,
    });
  });

  it.each([
    {},
    { path: '/v/b', name: 'b', size: -1 },
    { path: '/v/b', name: 'b', size: '5' },
    { path: 'x'.repeat(10_000), name: 'b', size: 0 },
    { path: '/v/b', name: 'x'.repeat(300), size: 0 },
    { path: '/v/b', name: 'b', size: 0, from: 5 },
  ])('is rejected in any other shape (%#)', (body) => {
    expect(() => readFileChange(body)).toThrow(unreachable);
  });
});
