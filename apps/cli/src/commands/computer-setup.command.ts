import type { Env } from '@berth/config';
import { Command } from 'commander';
import { setUpDesktops } from '../computers/desktop-setup.js';
import type { Terminal } from '../terminal.js';

/** `berth computers setup` */
export const computerSetupCommand = (env: Env, terminal: Terminal): Command =>
  new Command('setup')
    .description(
      'install what computers need on this machine (Debian and Ubuntu; root): X server, window manager, browser, terminal, file manager, fonts',
    )
    .action(() => setUpDesktops(env['PATH'] ?? '', terminal));
