import type { EventData } from '@berth/event-store';
import type { Json } from '@berth/kernel';

type Members = { readonly [name: string]: Json | undefined };

/** The members of a value that is an object; none of any other value. */
export const membersOf = (value: Json | undefined): Members =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Members) : {};

/** The plaintext of a member of an event; undefined if it belongs to an end user and is sealed. */
export const clearIn = (data: EventData, member: string): Json | undefined => membersOf(data[member])['data'];
