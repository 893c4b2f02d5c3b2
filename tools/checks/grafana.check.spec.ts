import { describe, expect, it } from 'vitest';
import { checkGrafana } from './grafana.check.mjs';
import { Scratch } from './workspace.fixture.js';
import { readWorkspace } from './workspace.mjs';

const problemsWith = (target: object): readonly string[] => {
  using scratch = new Scratch();
  scratch.pack('libs/a', 'platform', {
    'a.ts': `metrics.counter('berth_boats', 'Boats.');\nmetrics.histogram('berth_trip_seconds', 'Trips.');`,
  });
  scratch.write('docs/analytics.md', 'The view `analytics.boats`.');
  scratch.write(
    'infra/grafana/boats.json',
    JSON.stringify({ panels: [{ title: 'Boats', targets: [target] }] }),
  );
  return checkGrafana(readWorkspace(scratch.root)).problems;
};

describe('boards of Grafana', () => {
  it.each([
    ['a metric', { expr: 'rate(berth_ships_total[5m])' }, 'berth_ships_total'],
    ['a counter without its suffix', { expr: 'rate(berth_boats[5m])' }, 'berth_boats'],
    ['a view', { rawSql: 'SELECT * FROM analytics.ships' }, 'ships'],
  ])('that name %s that does not exist are reported', (_what, target, name) => {
    expect(problemsWith(target)).toEqual([
      `infra/grafana/boats.json: 'Boats' names ${name}, which does not exist`,
    ]);
  });

  it('may name every form of what exists', () => {
    const expr = 'rate(berth_boats_total[5m]) + berth_trip_seconds_bucket + berth_trip_seconds_count';
    expect(problemsWith({ expr, rawSql: 'SELECT * FROM analytics.boats' })).toEqual([]);
  });
});
