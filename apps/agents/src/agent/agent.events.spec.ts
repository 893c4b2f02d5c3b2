import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describeGoldenEvents } from '@berth/testing';
import { describe, expect, it } from 'vitest';
import { agentDecider } from './agent.decider.js';
import { agentCodec } from './agent.events.js';

const GOLDEN = join(import.meta.dirname, '__events__');

describeGoldenEvents(GOLDEN, agentCodec, {
  'AgentCreated.v3': true,
  AgentCreationAbandoned: true,
  'AgentStarting.v2': true,
  AgentVersionPrepared: true,
  AgentVersionAdopted: true,
  AgentVersionAbandoned: true,
  AgentStarted: true,
  AgentStartedAnew: true,
  AgentResized: true,
  AgentFellAsleep: true,
  AgentSleepRequested: true,
  'AgentStopping.v2': true,
  AgentStopped: true,
  AgentFailed: true,
  AgentRanOutOfMemory: true,
  AgentUnseen: true,
  AgentRanUnseen: true,
  AgentDeletionRequested: true,
  AgentDeleted: true,
});

describe('an agent that was created before end users had keys', () => {
  it.each(['AgentCreated', 'AgentCreated.v2'])('has its personal data in plaintext: %s', (type) => {
    const stored = JSON.parse(readFileSync(join(GOLDEN, `${type}.json`), 'utf8')) as never;
    expect(agentCodec.fromStored(stored)).toMatchObject({
      type: 'AgentCreated.v3',
      data: {
        templateId: 'echo',
        personal: {
          endUserId: null,
          data: {
            name: 'ada',
            externalId: 'user-7',
            externalUserId: null,
            instructions: 'Be brief.',
            labels: { team: 'blue' },
          },
        },
      },
    });
  });
});

describe('an agent that was stopped before stops had reasons', () => {
  it('was stopped by request', () => {
    const stored = JSON.parse(readFileSync(join(GOLDEN, 'AgentStopping.json'), 'utf8')) as never;
    expect(agentCodec.fromStored(stored)).toMatchObject({
      type: 'AgentStopping.v2',
      data: { target: 'stopped', reason: 'requested' },
    });
  });
});

describe('an agent that was created before sources had versions', () => {
  it('runs the template that it was created from, as its version 1', () => {
    const stored = JSON.parse(readFileSync(join(GOLDEN, 'AgentCreated.json'), 'utf8')) as never;
    const agent = agentDecider.evolve(agentDecider.initial, agentCodec.fromStored(stored));
    expect(agent).toMatchObject({ source: { kind: 'template', version: 1, name: 'echo' } });
  });
});
