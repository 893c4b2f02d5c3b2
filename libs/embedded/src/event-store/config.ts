import { parseArgs } from 'node:util';

/** The event store process's configuration: arguments take precedence over the environment. */
export interface EventStoreConfig {
  readonly file: string;
  readonly port: number;
  readonly exitWithParent: boolean;
}

/**
 * Reads `--file` (BERTH_EVENT_STORE_FILE), `--port` (BERTH_EVENT_STORE_PORT, default 0: any free port) and
 * `--exit-with-parent`. Throws an error that names the problem.
 */
export function readConfig(
  args: readonly string[] = process.argv.slice(2),
  env: NodeJS.ProcessEnv = process.env,
): EventStoreConfig {
  const { values } = parseArgs({
    args: [...args],
    options: {
      file: { type: 'string' },
      port: { type: 'string' },
      'exit-with-parent': { type: 'boolean', default: false },
    },
  });
  const file = values.file ?? env['BERTH_EVENT_STORE_FILE'] ?? '';
  if (file === '') throw new Error('--file (or BERTH_EVENT_STORE_FILE) must name the database file');
  const port = values.port ?? env['BERTH_EVENT_STORE_PORT'] ?? '0';
  if (!/^\d{1,5}$/.test(port) || Number(port) > 65_535) {
    throw new Error(`--port (or BERTH_EVENT_STORE_PORT) must be a port number, not '${port}'`);
  }
  return { file, port: Number(port), exitWithParent: values['exit-with-parent'] };
}
