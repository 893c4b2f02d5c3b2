import { describe, expect, it } from 'vitest';
import { mergeProjections } from './merge-projections.js';
import type { ProjectionView } from './operations.requests.js';

const view = (more: Partial<ProjectionView>): ProjectionView => ({
  name: 'key-list',
  service: 'accounts',
  version: 1,
  position: '10',
  lag: 0,
  rebuilding: null,
  lastRebuild: null,
  ...more,
});
const rebuilding = view({ rebuilding: { applied: 1, total: 2, eventsPerSecond: 1, secondsLeft: 1 } });

describe('the merged view of several instances', () => {
  it('is one entry per projection, by service and name', () => {
    const merged = mergeProjections([
      [view({ service: 'exec', name: 'a' })],
      [view({}), view({ name: 'b' })],
      [view({})],
    ]);
    expect(merged.map(({ service, name }) => `${service}/${name}`)).toEqual([
      'accounts/b',
      'accounts/key-list',
      'exec/a',
    ]);
  });

  it('shows the rebuild that one of them runs, in any order of responses', () => {
    for (const responses of [
      [[rebuilding], [view({ position: '99' })]],
      [[view({ position: '99' })], [rebuilding]],
    ]) {
      expect(mergeProjections(responses)).toEqual([rebuilding]);
    }
  });

  it('shows how the latest rebuild ended', () => {
    const early = view({ lastRebuild: { outcome: 'failed', at: '2026-11-21T08:00:00.000Z' } });
    const late = view({ lastRebuild: { outcome: 'completed', at: '2026-11-21T09:00:00.000Z' } });
    for (const responses of [
      [[early], [late], [view({})]],
      [[view({})], [late], [early]],
    ]) {
      expect(mergeProjections(responses)).toEqual([late]);
    }
  });

  it('shows the furthest position, even above 2^53', () => {
    const near = view({ position: '9007199254740992' });
    const far = view({ position: '9007199254740993' });
    expect(mergeProjections([[far], [near], [view({ position: null })]])).toEqual([far]);
  });

  it('is empty without responses', () => expect(mergeProjections([])).toEqual([]));
});
