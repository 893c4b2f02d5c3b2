import { aboutIdentity, aboutVariable } from '@berth/contracts/agents';
import { aboutRequestedPaths } from '@berth/contracts/files';
import type { EventData } from '@berth/event-store';
import type { Json } from '@berth/kernel';
import { fromPersonal, type PersonalKey } from '@berth/personal-data';
import { pick, text, type Details } from './details.js';
import { membersOf } from './personal-member.js';

/** Details that belong to an end user, sealed under its key. */
export interface SealedDetails {
  readonly endUserId: string;
  /** See `PersonalKey`. */
  readonly about: string;
  readonly sealed: string;
  /** Those of the sealed members that the act shows. */
  readonly members: readonly string[];
}

/** Names and paths: personal data if the agent belongs to an end user. */
export interface PersonalDetails {
  /** Null each, where they may not be shown. */
  readonly hidden: Details;
  /** What the event has in plaintext. */
  readonly clear: Details;
  readonly sealed: SealedDetails | null;
}

type OfEvent = (data: EventData) => PersonalDetails;

export const nameIn: OfEvent = (data) =>
  personalIn(data, { member: 'personal', about: aboutIdentity(text(data, 'agentId')), shows: ['name'] });

export const variableIn: OfEvent = (data) =>
  personalIn(data, { member: 'variable', about: aboutVariable(text(data, 'agentId')), shows: ['key'] });

export const pathsIn: OfEvent = (data) =>
  personalIn(data, {
    member: 'personal',
    about: aboutRequestedPaths(text(data, 'changeId')),
    shows: data['op'] === 'move' ? ['path', 'to'] : ['path'],
  });

/** What is sealed; nothing without the key of the end user, who is deleted then. */
export const openDetails = (
  key: PersonalKey | undefined,
  { endUserId, about, sealed, members }: SealedDetails,
): { readonly [member: string]: Json } => {
  const value = fromPersonal<Json>(key, about, { endUserId, sealed });
  return value === null ? {} : pick(asMembers(value, members), ...members);
};

interface Place {
  /** The member of the event that holds a `Personal`; in earlier versions the event itself has the plaintext. */
  readonly member: string;
  readonly about: string;
  readonly shows: readonly string[];
}

const personalIn = (data: EventData, { member, about, shows }: Place): PersonalDetails => {
  const { endUserId, sealed, data: clear } = membersOf(data[member]);
  return {
    hidden: Object.fromEntries(shows.map((name) => [name, null])),
    clear: pick({ ...data, ...asMembers(clear, shows) }, ...shows),
    sealed:
      typeof endUserId === 'string' && typeof sealed === 'string'
        ? { endUserId, about, sealed, members: shows }
        : null,
  };
};

/** A text is the only member that is shown. */
const asMembers = (value: Json | undefined, [only = '']: readonly string[]): EventData =>
  typeof value === 'string' ? { [only]: value } : membersOf(value);
