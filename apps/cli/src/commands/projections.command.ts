import { setTimeout as delay } from 'node:timers/promises';
import type { ProjectionView } from '@berth/contracts/operations';
import { Command } from 'commander';
import type { ApiClient } from '../api-client.js';
import { CliError, EXIT } from '../cli-error.js';
import { formatProgress } from '../output/progress-bar.js';
import { formatTable } from '../output/table.js';
import type { Terminal } from '../terminal.js';

const PATH = '/api/v1/operations/projections';
const POLL_MS = 250;
/** After this many consecutive responses without the projection, its service counts as gone. */
const MAX_MISSING = 20;
/** Without a terminal, progress is printed once per this many responses. */
const RESPONSES_PER_LINE = 20;

/** `berth projections list|rebuild` */
export const projectionsCommand = (api: () => ApiClient, terminal: Terminal): Command => {
  const projections = new Command('projections').description(
    'the tables that are built from the event log (scope operate)',
  );
  projections
    .command('list')
    .description('every projection of every service, with its position')
    .option('--json', 'print them as JSON')
    .action(async (options: { readonly json?: true }) => {
      const items = await list(api());
      terminal.out.write(options.json === true ? `${JSON.stringify(items, null, 2)}\n` : tableOf(items));
    });
  projections
    .command('rebuild')
    .description('rebuild a projection next to the one in use, then switch to it')
    .argument('<name>')
    .action((name: string) => rebuild(api(), terminal, name));
  return projections;
};

const list = async (api: ApiClient): Promise<readonly ProjectionView[]> =>
  (await api.call<{ readonly items: readonly ProjectionView[] }>({ method: 'GET', path: PATH })).items;

const rebuild = async (api: ApiClient, terminal: Terminal, name: string): Promise<void> => {
  const progress = new ProgressLine(terminal);
  let view = await api.call<ProjectionView>({
    method: 'POST',
    path: `${PATH}/${encodeURIComponent(name)}/rebuild`,
  });
  for (let missing = 0; view.rebuilding !== null;) {
    progress.show(formatProgress(view.rebuilding));
    await delay(POLL_MS);
    const found = (await list(api)).find((item) => item.name === name);
    // A busy service may occasionally be missing from the list.
    missing = found === undefined ? missing + 1 : 0;
    if (missing === MAX_MISSING) {
      throw new CliError(EXIT.unavailable, `The service of ${name} no longer responds.`);
    }
    view = found ?? view;
  }
  progress.end();
  if (view.lastRebuild?.outcome === 'failed') {
    throw new CliError(
      EXIT.refused,
      `The rebuild of ${name} failed; the previous tables stay in use. See the service's log for the reason.`,
    );
  }
  terminal.err.write(`${name} was rebuilt: version ${view.version}, ${view.lag} events behind the log.\n`);
};

const tableOf = (items: readonly ProjectionView[]): string =>
  formatTable(
    ['NAME', 'SERVICE', 'VERSION', 'POSITION', 'LAG', 'REBUILD'],
    items.map((item) => [
      item.name,
      item.service,
      String(item.version),
      item.position ?? '-',
      String(item.lag),
      item.rebuilding === null ? '-' : formatProgress(item.rebuilding),
    ]),
  );

/** A line that is overwritten on a terminal; elsewhere, one line per `RESPONSES_PER_LINE` responses. */
class ProgressLine {
  private shown = 0;

  constructor(private readonly terminal: Terminal) {}

  show(text: string): void {
    const { err } = this.terminal;
    if (err.isTTY === true) err.write(`\r\u001b[K${text.slice(0, (err.columns ?? 80) - 1)}`);
    else if (this.shown % RESPONSES_PER_LINE === 0) err.write(`${text}\n`);
    this.shown++;
  }

  end(): void {
    if (this.shown > 0 && this.terminal.err.isTTY === true) this.terminal.err.write('\r\u001b[K');
  }
}
