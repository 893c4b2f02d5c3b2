import { decideGiven } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { fileChangeDecider, type FileChangeCommand } from './file-change.decider.js';
import { evolve, type FileChangeEvent, type FileChangeState } from './file-change.js';

const at = '2026-11-21T10:00:00.000Z';
const later = '2026-11-21T10:00:01.000Z';
const requestData = {
  changeId: 'fch_1',
  agentId: 'agt_1',
  accountId: 'acc_1',
  op: 'move',
  personal: { endUserId: null, data: { path: 'a', to: 'b' } },
  at,
} as const;
const result = {
  personal: { endUserId: null, data: { path: '/data/b', from: '/data/a', name: 'b' } },
  size: 0,
};
const requested: FileChangeEvent = { type: 'FileChangeRequested.v2', data: requestData };
const done: FileChangeEvent = {
  type: 'FileChanged.v2',
  data: { changeId: 'fch_1', agentId: 'agt_1', ...result, at: later },
};
const refused: FileChangeEvent = {
  type: 'FileChangeRefused',
  data: { changeId: 'fch_1', agentId: 'agt_1', kind: 'not_found', code: 'source_not_found', at: later },
};
const request: FileChangeCommand = { type: 'Request', ...requestData };
const complete: FileChangeCommand = { type: 'Complete', result, at: later };
const refuse: FileChangeCommand = {
  type: 'Refuse',
  kind: 'not_found',
  code: 'source_not_found',
  at: later,
};

const after = (...events: FileChangeEvent[]): FileChangeState =>
  events.reduce(evolve, fileChangeDecider.initial);

describe('a change of a file', () => {
  it('is requested once', () => {
    expect(decideGiven(fileChangeDecider, [], request).events).toEqual([requested]);
    for (const history of [[requested], [requested, done], [requested, refused]])
      expect(decideGiven(fileChangeDecider, history, request).events).toEqual([]);
  });

  it('ends as changed or refused', () => {
    expect(decideGiven(fileChangeDecider, [requested], complete).events).toEqual([done]);
    expect(decideGiven(fileChangeDecider, [requested], refuse).events).toEqual([refused]);
  });

  it('keeps its first outcome', () => {
    for (const outcome of [done, refused]) {
      expect(decideGiven(fileChangeDecider, [requested, outcome], complete).events).toEqual([]);
      expect(decideGiven(fileChangeDecider, [requested, outcome], refuse).events).toEqual([]);
    }
    expect(after(requested, done, refused)).toEqual(after(requested, done));
    expect(after(requested, refused, done)).toEqual(after(requested, refused));
  });

  it('has no outcome before it is requested', () => {
    expect(decideGiven(fileChangeDecider, [], complete).events).toEqual([]);
    expect(decideGiven(fileChangeDecider, [], refuse).events).toEqual([]);
  });

  it('keeps the result for a repeated command', () => {
    expect(after(requested)).toMatchObject({ status: 'requested' });
    expect(after(requested, done)).toEqual({ status: 'changed', result });
    expect(after(requested, refused)).toEqual({
      status: 'refused',
      kind: 'not_found',
      code: 'source_not_found',
    });
  });
});
