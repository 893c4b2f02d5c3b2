import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface StoredEvent {
  readonly type: string;
  readonly data: object;
}

/** The subset of an event codec that this suite needs. */
interface Codec<Event> {
  readonly category: string;
  toStored(event: Event): StoredEvent;
  // Stored data can have any shape: the codec validates it.
  fromStored(stored: never): Event;
}

/**
 * Registers the tests for a folder of golden events, one file per shape that was ever stored, named after its type: the
 * codec still reads every file, and writes the current shapes exactly as in their files.
 */
export const describeGoldenEvents = <Event extends { readonly type: string }>(
  folder: string,
  codec: Codec<Event>,
  written: { readonly [Type in Event['type']]: true },
): void => {
  const golden = readdirSync(folder).map((file) => ({
    name: file.replace(/\.json$/, ''),
    stored: JSON.parse(readFileSync(join(folder, file), 'utf8')) as StoredEvent,
  }));
  const current = Object.keys(written);

  describe(`stored events of ${codec.category}`, () => {
    it.each(golden)('$name remains readable', ({ name, stored }) => {
      expect(stored.type).toBe(name);
      expect(current).toContain(codec.fromStored(stored as never).type);
    });

    it.each(golden.filter(({ name }) => current.includes(name)))(
      '$name is written exactly as in its file',
      ({ stored }) => {
        expect(codec.toStored(codec.fromStored(stored as never))).toEqual(stored);
      },
    );

    it('have a golden file for every type that the codec writes', () => {
      expect(golden.map(({ name }) => name)).toEqual(expect.arrayContaining(current));
    });

    it('of an unknown type cause an error and are never skipped', () => {
      expect(() => codec.fromStored({ type: 'SomethingElse', data: {} } as never)).toThrow('SomethingElse');
    });
  });
};
