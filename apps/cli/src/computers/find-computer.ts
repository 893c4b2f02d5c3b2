import type { ComputerView } from '@berth/contracts/computers';
import { isId } from '@berth/kernel';
import type { ApiClient } from '../api-client.js';
import { CliError, EXIT } from '../cli-error.js';
import { listItems } from '../list-items.js';

export const COMPUTERS_PATH = '/api/v1/computers';

/** For waking a computer, besides the time of what it is woken for. */
export const WAKE_MS = 90_000;

/** Returns the path of the computer with this id, or with this name if only one has it. */
export const findComputer = async (api: ApiClient, which: string): Promise<string> => {
  if (isId('cmp', which)) return `${COMPUTERS_PATH}/${which}`;
  const named = (await listItems<ComputerView>(api, COMPUTERS_PATH)).filter(({ name }) => name === which);
  const [computer] = named;
  if (computer !== undefined && named.length === 1) return `${COMPUTERS_PATH}/${computer.id}`;
  const name = JSON.stringify(which);
  throw new CliError(
    EXIT.refused,
    computer === undefined
      ? `There is no computer with the id or name ${name}.`
      : `${named.length} computers have the name ${name}. Give an id: ${named.map(({ id }) => id).join(', ')}.`,
  );
};
