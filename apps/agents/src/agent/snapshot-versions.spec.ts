import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventCodec } from '@berth/event-store';
import type { Decider } from '@berth/kernel';
import { describe, expect, it } from 'vitest';
import { envCodec, envDecider } from '../env/agent-env.js';
import { reservationCodec, reservationDecider } from '../reservation/reservation.js';
import { agentCodec } from './agent.events.js';
import { agentWithRowDecider } from './agent.streams.js';
import { SNAPSHOT_VERSIONS } from './snapshot-versions.js';

const AGENT_HISTORY = [
  'AgentCreated',
  'AgentCreationAbandoned',
  'AgentCreated.v2',
  'AgentCreated.v3',
  'AgentStarting',
  'AgentResized',
  'AgentStarted',
  'AgentFellAsleep',
  'AgentVersionPrepared',
  'AgentVersionAdopted',
  'AgentStarting.v2',
  'AgentStartedAnew',
  'AgentVersionAbandoned',
  'AgentStarted',
  'AgentUnseen',
  'AgentRanUnseen',
  'AgentFailed',
  'AgentStopping',
  'AgentStopped',
  'AgentStopping.v2',
  'AgentFellAsleep',
  'AgentDeletionRequested',
  'AgentDeleted',
];

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

const CATEGORIES = [
  ['agent', statesAfter('agent', AGENT_HISTORY, agentCodec, agentWithRowDecider)],
  [
    'agentEnv',
    statesAfter(
      'env',
      ['EnvVarSet', 'EnvVarSet.v2', 'EnvVarRemoved', 'EnvVarRemoved.v2'],
      envCodec,
      envDecider,
    ),
  ],
  [
    'reservation',
    statesAfter(
      'reservation',
      ['NameReserved', 'NameReserved.v2', 'NameReleased'],
      reservationCodec('agentName'),
      reservationDecider,
    ),
  ],
] as const;

describe.each(CATEGORIES)('snapshots of %s', (category, states) => {
  const version = SNAPSHOT_VERSIONS[category];
  const file = join(import.meta.dirname, '__states__', `${category}.v${version}.json`);

  it('get a new version, with a new file of states, whenever the same events fold to another state', () => {
    expect(states).toEqual(JSON.parse(readFileSync(file, 'utf8')));
  });

  it('hold states that survive a round trip through JSON unchanged', () => {
    expect(JSON.parse(JSON.stringify(states))).toStrictEqual(states);
  });
});
