import { spawn } from 'node:child_process';
import type { Env } from '@berth/config';
import type { ViewerMode } from '@berth/contracts/computers';
import { findProgram } from '@berth/host-requirements';
import { Command } from 'commander';
import type { ApiClient } from '../api-client.js';
import { findComputer, WAKE_MS } from '../computers/find-computer.js';
import { numberWithin } from '../number-within.js';
import { formatJson } from '../output/json.js';
import type { Terminal } from '../terminal.js';

interface ViewOptions {
  readonly control?: true;
  readonly takeover?: true;
  readonly ttl?: number;
  readonly json?: true;
}

interface OpenedViewer {
  readonly sessionId: string;
  readonly url: string;
  readonly socketUrl: string;
  readonly mode: ViewerMode;
  readonly takeover: boolean;
  readonly expiresAt: string;
}

/** `berth computers view` */
export const computerViewCommand = (api: () => ApiClient, env: Env, terminal: Terminal): Command =>
  new Command('view')
    .description(
      'make a viewer of the screen, print its URL, and open it in a browser from a terminal. Who has the URL has the viewer',
    )
    .argument('<computer>', 'id or name')
    .option('--control', 'with mouse, keys and clipboard')
    .option('--takeover', 'with --control, which it implies: meanwhile actions are refused')
    .option('--ttl <seconds>', 'until it ends; by default 900', numberWithin({ type: 'integer' }))
    .option('--json', 'print it as JSON, and open nothing')
    .addHelpText('after', '\nExample: berth computers view desk --takeover')
    .action(async (which: string, { control, takeover, ttl, json }: ViewOptions) => {
      const client = api();
      const viewer = await client.call<OpenedViewer>({
        method: 'POST',
        path: `${await findComputer(client, which)}/viewer`,
        body: {
          mode: control === true || takeover === true ? 'control' : 'view',
          takeover: takeover === true,
          ttlSeconds: ttl,
        },
        withinMs: WAKE_MS,
      });
      if (json === true) {
        terminal.out.write(formatJson(viewer));
        return;
      }
      terminal.out.write(`${viewer.url}\n`);
      if (terminal.out.isTTY === true) openInBrowser(viewer.url, env);
    });

/** Nothing waits for the browser; without one, the URL is there to copy. */
const openInBrowser = (url: string, env: Env): void => {
  const opener = openerOn(process.platform, env);
  if (opener === undefined) return;
  const child = spawn(opener, [url], { detached: true, stdio: 'ignore', env });
  child.once('error', () => undefined);
  child.unref();
};

/** Without a display, `xdg-open` would start a browser in the terminal. */
const openerOn = (platform: NodeJS.Platform, env: Env): string | undefined => {
  if (platform === 'darwin') return findProgram('open', env['PATH'] ?? '');
  const hasDisplay = Boolean(env['DISPLAY'] ?? env['WAYLAND_DISPLAY']);
  return hasDisplay ? findProgram('xdg-open', env['PATH'] ?? '') : undefined;
};
