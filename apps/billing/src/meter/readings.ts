import type { EventData, RecordedEvent } from '@berth/event-store';
import type { Json } from '@berth/kernel';
import type { Personal } from '@berth/personal-data';
import { plansIn } from '../pricing/pricing.events.js';
import type { BoxFact, Identity, Sizes, UsageFact } from './usage-fact.js';

/** What an event type says about usage; null for nothing. */
export type Reading = (data: EventData, event: RecordedEvent) => UsageFact | null;

/** By event type without its version. */
export type Readings = Readonly<Record<string, Reading>>;

export const text = (data: EventData, member: string): string => {
  const value = data[member];
  return typeof value === 'string' ? value : '';
};

export const time = (data: EventData, member = 'at'): number => Date.parse(text(data, member));

type Members = { readonly [name: string]: Json | undefined };

export const membersOf = (value: Json | undefined): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};

const VCPU_MICROS = 1_000_000;

const sizesIn = (data: EventData): Sizes => {
  const { vcpus, memMb, diskGb } = membersOf(data['resources']);
  return {
    vcpuMicros: Math.round(Number(vcpus) * VCPU_MICROS),
    memMb: Number(memMb),
    diskGb: Number(diskGb),
  };
};

const textOrNull = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null);

/** Earlier versions of the creation have the identity in plaintext. */
const personalIn = (data: EventData): Personal<Identity> => {
  const { endUserId, sealed, data: clear } = membersOf(data['personal']);
  if (typeof endUserId === 'string' && typeof sealed === 'string') return { endUserId, sealed };
  const { name, externalId, externalUserId } = data['personal'] === undefined ? data : membersOf(clear);
  return {
    endUserId: null,
    data: {
      name: textOrNull(name),
      externalId: textOrNull(externalId),
      externalUserId: textOrNull(externalUserId),
    },
  };
};

type Unplaced<Fact> = Fact extends BoxFact ? Omit<Fact, 'boxId' | 'at'> : never;

/** The readings of the life of boxes. `member`: that of their id. */
export const lifeReadings = (box: 'Agent' | 'Computer', member: 'agentId' | 'computerId'): Readings => {
  const ofBox = (data: EventData, fact: Unplaced<BoxFact>): UsageFact => ({
    about: 'box',
    fact: { ...fact, boxId: text(data, member), at: time(data) } as BoxFact,
  });
  const simply =
    (kind: 'running' | 'resting' | 'failed' | 'deleted'): Reading =>
    (data) =>
      ofBox(data, { kind });
  const readings: Readings = {
    Created: (data) => ofBox(data, { kind: 'created', sizes: sizesIn(data), personal: personalIn(data) }),
    Resized: (data) => ofBox(data, { kind: 'resized', sizes: sizesIn(data) }),
    Starting: (data) => ofBox(data, { kind: 'starting', cause: text(data, 'cause') }),
    Started: simply('running'),
    Stopping: simply('resting'),
    FellAsleep: simply('resting'),
    Stopped: simply('resting'),
    Failed: simply('failed'),
    DeletionRequested: simply('deleted'),
    Unseen: (data) => ofBox(data, { kind: 'unseen', since: time(data, 'since') }),
    RanUnseen: (data) => ofBox(data, { kind: 'ranUnseen', since: time(data, 'since') }),
  };
  return Object.fromEntries(Object.entries(readings).map(([name, reading]) => [`${box}${name}`, reading]));
};

const planOf =
  (since: string): Reading =>
  (data) => ({
    about: 'account',
    accountId: text(data, 'accountId'),
    planId: text(data, 'plan'),
    at: time(data, since),
  });

/** The readings of prices and of deleted end users. */
const SHARED: Readings = {
  AccountOpened: planOf('openedAt'),
  AccountChanged: planOf('changedAt'),
  EndUserDeleted: (data) => ({ about: 'forgotten', endUserId: text(data, 'endUserId') }),
  PlansRead: (data) => ({ about: 'plans', plans: plansIn(data), at: time(data) }),
};

/** The categories of the streams with these events. */
export const SHARED_CATEGORIES: readonly string[] = ['account', 'endUser', 'pricing'];

/** Reads facts by these readings, and those of prices and deleted end users. */
export const factReader = (readings: Readings): ((event: RecordedEvent) => UsageFact | null) => {
  const all = { ...SHARED, ...readings };
  return (event) => all[event.type.replace(/\.v\d+$/, '')]?.(event.data, event) ?? null;
};
