import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventCodec } from '@berth/event-store';
import type { Decider } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { computerUseCodec, computerUseDecider } from '../use/computer-use.js';
import { computerCodec } from './computer.events.js';
import { computerWithRowDecider } from './computer.streams.js';
import { SNAPSHOT_VERSIONS } from './snapshot-versions.js';

/** Returns the state after each golden event of that folder, in the given order. */
const statesAfter = <State, Command, Event>(
  folder: string,
  names: readonly string[],
  codec: EventCodec<Event>,
  { initial, evolve }: Decider<State, Command, Event>,
): readonly State[] => {
  let state = initial;
  return names.map((name) => {
    const path = join(import.meta.dirname, '..', folder, '__events__', `${name}.json`);
    return (state = evolve(state, codec.fromStored(JSON.parse(readFileSync(path, 'utf8')) as never)));
  });
};

const COMPUTER_HISTORY = [
  ...['ComputerCreated', 'ComputerStarting', 'ComputerStarted', 'ComputerSleepRequested'],
  ...['ComputerUnseen', 'ComputerFailed', 'ComputerRanUnseen', 'ComputerStarted'],
  ...['ComputerStopping', 'ComputerFellAsleep', 'ComputerDeletionRequested', 'ComputerDeleted'],
];
const USE_HISTORY = [
  ...['ActionsOpened', 'ScreenshotsTaken', 'ComputerCommandRun', 'ComputerFileWritten'],
  ...['ViewerSessionsClosed', 'ActionsDone'],
];

const CATEGORIES = [
  ['computer', statesAfter('computer', COMPUTER_HISTORY, computerCodec, computerWithRowDecider)],
  ['computerUse', statesAfter('use', USE_HISTORY, computerUseCodec, computerUseDecider)],
] as const;

describe.each(CATEGORIES)('snapshots of %s', (category, states) => {
  const file = join(import.meta.dirname, '__states__', `${category}.v${SNAPSHOT_VERSIONS[category]}.json`);

  it('get a new version, with a new file of states, whenever the same events fold to another state', () => {
    expect(states).toEqual(JSON.parse(readFileSync(file, 'utf8')));
  });

  it('hold states that survive a round trip through JSON unchanged', () => {
    expect(JSON.parse(JSON.stringify(states))).toStrictEqual(states);
  });
});
