import type { ListedBox } from '../driver/driver.js';
import type { AgentRecord } from './agent-record.js';

/** What the record of an agent says about its box. */
export type RecordedBox = Pick<AgentRecord, 'agentId' | 'box' | 'boxEpoch' | 'guest'>;

/** One step of reconciling boxes and records after a restart of the host's process. */
export type BoxAction =
  /** The box is the one of the record: take it over. */
  | { readonly type: 'adopt'; readonly agentId: string }
  /** The box must not exist: end it. */
  | {
      readonly type: 'stop';
      readonly agentId: string;
      readonly reason: 'no_record' | 'never_started' | 'other_start' | 'leftover';
    }
  /** The record names a box that is gone: correct the record. */
  | { readonly type: 'forget'; readonly agentId: string };

/**
 * Compares the records with the boxes that exist; at most one action per agent, and none for an agent that rests and has
 * no box.
 */
export const planBoxes = (
  records: readonly RecordedBox[],
  listed: readonly ListedBox[],
): readonly BoxAction[] => {
  const boxes = new Map(listed.map((box) => [box.agentId, box]));
  const recorded = new Set(records.map(({ agentId }) => agentId));
  const ofRecords = records.flatMap((record) => planRecord(record, boxes.get(record.agentId)) ?? []);
  const unknown = listed.filter(({ agentId }) => !recorded.has(agentId));
  return [
    ...ofRecords,
    ...unknown.map(({ agentId }): BoxAction => ({ type: 'stop', agentId, reason: 'no_record' })),
  ];
};

const planRecord = (record: RecordedBox, box: ListedBox | undefined): BoxAction | undefined => {
  const { agentId } = record;
  if (box === undefined) return record.box !== null ? { type: 'forget', agentId } : undefined;
  const reason = reasonToStop(record, box);
  return reason === undefined ? { type: 'adopt', agentId } : { type: 'stop', agentId, reason };
};

/** Returns why the box is not the one of the record; undefined if it is. */
const reasonToStop = (
  { box, guest, boxEpoch }: RecordedBox,
  { epoch }: ListedBox,
): Extract<BoxAction, { type: 'stop' }>['reason'] | undefined => {
  // The host died between creating the box and recording it, or before the agent's program was ready.
  if (box === null || guest === null) return 'never_started';
  // Records of earlier versions name no epoch; their boxes name none either.
  if (boxEpoch === null) return undefined;
  if (epoch === null) return 'leftover';
  return epoch === boxEpoch ? undefined : 'other_start';
};
