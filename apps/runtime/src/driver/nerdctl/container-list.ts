import type { ListedBox } from '../driver.js';

/** A container of this installation. */
export interface ListedContainer extends ListedBox {
  readonly id: string;
  readonly epoch: number;
}

const NAME = /^(agt_[0-9a-z]+)\.(\d+)$/;
const ID = /^[0-9a-f]{64}$/;

/** Parses the output of `nerdctl ps --format json`; omits containers that Berth did not name. */
export const parseContainerList = (output: string): readonly ListedContainer[] =>
  output
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap((line) => toContainer(JSON.parse(line)) ?? []);

const toContainer = (entry: unknown): ListedContainer | undefined => {
  if (typeof entry !== 'object' || entry === null || !('ID' in entry) || !('Names' in entry))
    return undefined;
  const { ID: id, Names: name } = entry;
  const [, agentId, epoch] = NAME.exec(String(name)) ?? [];
  if (agentId === undefined || typeof id !== 'string' || !ID.test(id)) return undefined;
  return { agentId, epoch: Number(epoch), id };
};

/** The id that `nerdctl run --detach` prints; undefined if the output has none. */
export const parseContainerId = (output: string): string | undefined =>
  output
    .trim()
    .split('\n')
    .findLast((line) => ID.test(line));
