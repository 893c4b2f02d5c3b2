import type { ListedBox } from '../driver.js';

/** A container of this installation. */
export interface ListedContainer extends ListedBox {
  readonly id: string;
}

/** Of a box, with its epoch, or of a task. */
const NAME = /^(?:((?:agt|cmp)_[0-9a-z]+)\.(\d+)|(dep_[0-9a-z]+)\.task)$/;
const ID = /^[0-9a-f]{64}$/;

/**
 * Parses the output of `nerdctl ps --format json`. A container that Berth did not name is listed under its own id, like
 * what is left of a task.
 */
export const parseContainerList = (output: string): readonly ListedContainer[] =>
  output
    .split('\n')
    .filter((line) => line.trim() !== '')
    .flatMap((line) => toContainer(JSON.parse(line)) ?? []);

const toContainer = (entry: unknown): ListedContainer | undefined => {
  if (typeof entry !== 'object' || entry === null || !('ID' in entry) || !('Names' in entry))
    return undefined;
  const { ID: id, Names: name } = entry;
  const [, agentId, epoch, taskId] = NAME.exec(String(name)) ?? [];
  if (typeof id !== 'string' || !ID.test(id)) return undefined;
  if (taskId !== undefined) return { agentId: taskId, epoch: null, id };
  return agentId === undefined ? { agentId: id, epoch: null, id } : { agentId, epoch: Number(epoch), id };
};
