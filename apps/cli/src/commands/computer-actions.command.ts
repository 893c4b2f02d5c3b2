import type { ActionInput, ActionsAnswer } from '@berth/contracts/computers';
import { Command, Option } from 'commander';
import type { ApiClient } from '../api-client.js';
import { CliError, EXIT } from '../cli-error.js';
import { findComputer } from '../computers/find-computer.js';
import { numberWithin } from '../number-within.js';
import { formatJson } from '../output/json.js';
import type { Terminal } from '../terminal.js';

/** As long as the clients wait: waits and holds of 600 s, and a wake. */
const ACTIONS_MS = 700_000;
const BUTTONS = ['left', 'middle', 'right', 'back', 'forward'] as const;

interface ActionOptions {
  readonly json?: true;
}

interface ClickOptions extends ActionOptions {
  readonly button: (typeof BUTTONS)[number];
  readonly clicks: number;
  readonly keys?: string;
}

const position = numberWithin({ minimum: 0 });

/** `berth computers click` */
export const clickCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  actionCommand('click', 'click at a position of the screen')
    .argument('<x>', 'pixels from the left', position)
    .argument('<y>', 'pixels from the top', position)
    .addOption(new Option('--button <button>', 'which').choices(BUTTONS).default('left'))
    .option(
      '--clicks <count>',
      '2: a double click',
      numberWithin({ type: 'integer', minimum: 1, maximum: 3 }),
      1,
    )
    .option('--keys <keys>', 'held meanwhile, such as ctrl+shift')
    .addHelpText('after', '\nExample: berth computers click desk 640 400 --clicks 2')
    .action((which: string, x: number, y: number, { button, clicks, keys, json }: ClickOptions) => {
      const held = keys === undefined ? {} : { keys: [keys] };
      return act(api(), terminal, which, [{ type: 'click', x, y, button, clicks, ...held }], json);
    });

/** `berth computers type` */
export const typeCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  actionCommand('type', 'type a text into the window that has the focus')
    .argument('<text>', 'up to 10,000 characters; one that begins with - after --')
    .addHelpText('after', "\nExample: berth computers type desk 'Zoë Müller'")
    .action((which: string, text: string, { json }: ActionOptions) =>
      act(api(), terminal, which, [{ type: 'type', text }], json),
    );

/** `berth computers key` */
export const keyCommand = (api: () => ApiClient, terminal: Terminal): Command =>
  actionCommand('key', 'press keys, one chord after the other')
    .argument('<chord...>', 'such as Return, Page_Down or ctrl+s')
    .option(
      '--repeat <count>',
      'how often each',
      numberWithin({ type: 'integer', minimum: 1, maximum: 100 }),
      1,
    )
    .addHelpText('after', '\nExample: berth computers key desk ctrl+a Delete')
    .action(
      (which: string, chords: readonly string[], { repeat, json }: ActionOptions & { repeat: number }) =>
        act(
          api(),
          terminal,
          which,
          chords.map((chord) => ({ type: 'key', keys: [chord], repeat })),
          json,
        ),
    );

const actionCommand = (name: string, description: string): Command =>
  new Command(name)
    .description(description)
    .argument('<computer>', 'id or name')
    .option('--json', 'print the results as JSON');

const act = async (
  api: ApiClient,
  terminal: Terminal,
  which: string,
  actions: readonly ActionInput[],
  json: true | undefined,
): Promise<void> => {
  const answer = await api.call<ActionsAnswer>({
    method: 'POST',
    path: `${await findComputer(api, which)}/actions`,
    body: { actions },
    withinMs: ACTIONS_MS,
  });
  if (json === true) terminal.out.write(formatJson(answer));
  for (const { type, error } of answer.results)
    if (error !== undefined) throw new CliError(EXIT.refused, `${type}: ${error.message} (${error.code})`);
};
