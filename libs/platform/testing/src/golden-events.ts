import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

interface StoredEvent {
  readonly type: string;
  readonly data: object;
}

/** The event store's codec, as far as it matters here. */
interface Codec<Event> {
  readonly category: string;
  toStored(event: Event): StoredEvent;
  // What is read may be anything: the codec is what checks it.
  fromStored(stored: never): Event;
}

/**
 * The guarantees of a folder of golden events, one file per shape that was ever stored, named like its type:
 * every one is still understood, and what is written today looks exactly as it says.
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
    it.each(golden)('$name is understood for ever', ({ name, stored }) => {
      expect(stored.type).toBe(name);
      expect(current).toContain(codec.fromStored(stored as never).type);
    });

    it.each(golden.filter(({ name }) => current.includes(name)))(
      '$name is written as it stands',
      ({ stored }) => {
        expect(codec.toStored(codec.fromStored(stored as never))).toEqual(stored);
      },
    );

    it('have a golden file for every type that is written', () => {
      expect(golden.map(({ name }) => name)).toEqual(expect.arrayContaining(current));
    });

    it('of an unknown type are an error, never skipped', () => {
      expect(() => codec.fromStored({ type: 'SomethingElse', data: {} } as never)).toThrow('SomethingElse');
    });
  });
};
