import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatted } from './formatted.mjs';
import { readWorkspace, walk } from './workspace.mjs';

export const METRICS_PAGE = 'docs/metrics.md';
const KINDS = /^(counter|histogram|gauge)$/;

/** All metrics that the code registers, sorted by name. */
export const metricsOf = ({ packages }) => {
  const found = new Map();
  for (const { dir, files } of packages) {
    for (const file of files.filter((one) => !one.test)) {
      walk(file.program, (node) => {
        const { callee } = node;
        if (
          node.type !== 'CallExpression' ||
          callee.object?.name !== 'metrics' ||
          !KINDS.test(callee.property.name)
        )
          return;
        const [name, help, ...rest] = node.arguments;
        const labels = rest.find(
          (one) =>
            one.type === 'ArrayExpression' &&
            one.elements[0]?.type === 'Literal' &&
            typeof one.elements[0].value === 'string',
        );
        found.set(name.value, {
          name: name.value,
          help: help.value,
          kind: callee.property.name,
          labels: labels?.elements.map((one) => one.value) ?? [],
          dir,
        });
      });
    }
  }
  return [...found.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
};

/** Renders the page of all metrics that Berth registers. */
export const renderMetrics = async (workspace) => {
  const rows = metricsOf(workspace).map(
    ({ name, help, kind, labels, dir }) =>
      `| \`${name}\` | ${kind} | ${labels.map((label) => `\`${label}\``).join(', ')} | ${help} | \`${dir}\` |\n`,
  );
  return formatted(METRICS_PAGE, `${HEAD}${rows.join('')}`);
};

const HEAD = `# Metrics

Generated from what the code registers by \`node tools/checks/metrics.mjs --write\`; \`npm test\` fails when it is out of date.

Served in Prometheus' text form at \`/metrics\` on \`BERTH_METRICS_PORT\`, and sent to \`OTEL_EXPORTER_OTLP_ENDPOINT\` every 15 s
when either is set. Each process also exports its memory, CPU and event loop metrics.

| Metric | Kind | Labels | Meaning | Registered in |
| --- | --- | --- | --- | --- |
`;

/** Checks that the page matches the code. */
export const checkMetrics = async (workspace) => {
  const page = join(workspace.root, METRICS_PAGE);
  const current = existsSync(page) && readFileSync(page, 'utf8') === (await renderMetrics(workspace));
  const problems = current
    ? []
    : [`${METRICS_PAGE} is out of date: run node tools/checks/metrics.mjs --write`];
  return { problems, read: metricsOf(workspace).length };
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  const page = await renderMetrics(readWorkspace(root));
  if (process.argv.includes('--write')) writeFileSync(join(root, METRICS_PAGE), page);
  else process.stdout.write(page);
}
