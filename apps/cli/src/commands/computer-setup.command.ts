import { readEnv, type Env, type RuntimeDriver } from '@berth/config';
import { Command, Option } from 'commander';
import { buildDesktopImage } from '../computers/desktop-image.js';
import { setUpDesktops } from '../computers/desktop-setup.js';
import type { Terminal } from '../terminal.js';

interface SetupOptions {
  readonly driver?: RuntimeDriver;
  readonly imageFolder: string;
}

/** `berth computers setup` */
export const computerSetupCommand = (env: Env, terminal: Terminal): Command =>
  new Command('setup')
    .description(
      'prepare this machine for computers: install X server, window manager, browser, terminal, file manager and fonts (Debian and Ubuntu; root), or with nerdctl build their image',
    )
    .addOption(new Option('--driver <driver>', 'instead of BERTH_RUNTIME').choices(['process', 'nerdctl']))
    .option('--image-folder <folder>', 'with the Dockerfile of the image', 'infra/images/desktop')
    .action(async ({ driver, imageFolder }: SetupOptions) => {
      const reader = readEnv(env);
      if (reader.done(driver ?? reader.runtimeDriver()) === 'nerdctl')
        await buildDesktopImage(imageFolder, env, terminal);
      else await setUpDesktops(env['PATH'] ?? '', terminal);
    });
