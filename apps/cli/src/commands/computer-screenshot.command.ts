import { writeFile } from 'node:fs/promises';
import type { Env } from '@berth/config';
import { IMAGE_FORMATS } from '@berth/contracts/computers';
import { Command, Option } from 'commander';
import type { ApiClient } from '../api-client.js';
import { CliError, EXIT } from '../cli-error.js';
import { findComputer, WAKE_MS } from '../computers/find-computer.js';
import { imageProtocolOf, inlineImage } from '../computers/inline-image.js';
import { numberWithin } from '../number-within.js';
import type { Terminal } from '../terminal.js';

interface ScreenshotOptions {
  readonly output?: string;
  readonly format?: (typeof IMAGE_FORMATS)[number];
  readonly quality?: number;
  readonly scale?: number;
  readonly json?: true;
}

/** `berth computers screenshot` */
export const screenshotCommand = (api: () => ApiClient, env: Env, terminal: Terminal): Command =>
  new Command('screenshot')
    .description('the screen of a computer: to a file, to a pipe, or shown by kitty, iTerm2 and the like')
    .argument('<computer>', 'id or name')
    .option('-o, --output <file>', 'where to write it; -: standard output')
    .addOption(
      new Option('--format <format>', 'by default that of the name of the file, else png').choices(
        IMAGE_FORMATS,
      ),
    )
    .option('--quality <percent>', 'of a JPEG', numberWithin({ type: 'integer' }))
    .option('--scale <factor>', 'smaller: 0.5 is half of each side', numberWithin({}))
    .option('--json', 'print it as JSON, in base64')
    .addHelpText('after', '\nExample: berth computers screenshot desk -o desk.png')
    .action(async (which: string, options: ScreenshotOptions) => {
      const show = showingOf(options, env, terminal);
      const query = new URLSearchParams({ format: formatOf(options) });
      if (options.quality !== undefined) query.set('quality', String(options.quality));
      if (options.scale !== undefined) query.set('scale', String(options.scale));
      const client = api();
      const path = `${await findComputer(client, which)}/screenshot?${query.toString()}`;
      const accept = options.json === true ? 'application/json' : 'image/*';
      const response = await client.exchange({ method: 'GET', path, accept, withinMs: WAKE_MS });
      await show(Buffer.from(await response.arrayBuffer()));
    });

const formatOf = ({ format, output = '' }: ScreenshotOptions): (typeof IMAGE_FORMATS)[number] =>
  format ?? (/\.jpe?g$/i.test(output) ? 'jpeg' : 'png');

/** What becomes of the image; before it is requested, because there may be no way. */
const showingOf = (
  options: ScreenshotOptions,
  env: Env,
  { out, err }: Terminal,
): ((image: Buffer) => unknown) => {
  const { output, json } = options;
  if (json === true) return (image) => out.write(`${image.toString()}\n`);
  if (output !== undefined && output !== '-')
    return async (image) => {
      await writeFile(output, image);
      err.write(`${output}: ${image.length} bytes\n`);
    };
  if (output === '-' || out.isTTY !== true) return (image) => out.write(image);
  const protocol = imageProtocolOf(env);
  if (protocol === undefined)
    throw new CliError(EXIT.usage, 'This terminal is not known to show images. Give -o FILE, or use a pipe.');
  if (formatOf(options) !== 'png') throw new CliError(EXIT.usage, 'Terminals show PNG only.');
  return (image) => out.write(inlineImage(protocol, image));
};
