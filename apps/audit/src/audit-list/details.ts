import type { EventData } from '@berth/event-store';
import type { Json } from '@berth/kernel';

/** Members of the details of an act. */
export type Details = Readonly<Record<string, unknown>>;

/** A member that is a text; empty for any other. */
export const text = (data: EventData, member: string): string => {
  const value = data[member];
  return typeof value === 'string' ? value : '';
};

/** The members that the data has, in that order. */
export const pick = (data: EventData, ...members: readonly string[]): { readonly [member: string]: Json } =>
  Object.fromEntries(
    members.flatMap((name) => {
      const value = data[name];
      return value === undefined ? [] : [[name, value]];
    }),
  );
