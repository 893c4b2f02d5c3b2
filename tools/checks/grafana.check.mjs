import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { metricsOf } from './metrics.mjs';

const SUFFIXES = { counter: ['_total'], gauge: [''], histogram: ['_bucket', '_count', '_sum'] };
const METRIC = /\bberth_\w+/g;
const VIEW = /\banalytics\.(\w+)/g;

/** Checks that the boards of Grafana name metrics that the code registers, and views of `docs/analytics.md`. */
export const checkGrafana = (workspace) => {
  const { root } = workspace;
  const metrics = new Set(
    metricsOf(workspace).flatMap(({ name, kind }) => SUFFIXES[kind].map((suffix) => name + suffix)),
  );
  const views = new Set(namesIn(VIEW, readFileSync(join(root, 'docs/analytics.md'), 'utf8')));
  const problems = [];
  let read = 0;
  for (const path of globSync('infra/grafana/*.json', { cwd: root }).sort()) {
    for (const { title, targets } of JSON.parse(readFileSync(join(root, path), 'utf8')).panels) {
      for (const { expr = '', rawSql = '' } of targets) {
        read++;
        const unknown = [
          ...namesIn(METRIC, expr, 0).filter((name) => !metrics.has(name)),
          ...namesIn(VIEW, rawSql).filter((name) => !views.has(name)),
        ];
        for (const name of unknown) problems.push(`${path}: '${title}' names ${name}, which does not exist`);
      }
    }
  }
  return { problems, read };
};

const namesIn = (pattern, text, group = 1) => [...text.matchAll(pattern)].map((match) => match[group]);
