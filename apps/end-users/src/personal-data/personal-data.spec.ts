import { randomBytes } from 'node:crypto';
import { PersonalKey } from '@berth/personal-data';
import { expect, it } from 'vitest';
import { PersonalData } from './personal-data.js';

const fields = {
  externalId: 'ada@example.org',
  displayName: 'Ada Lovelace',
  metadata: { city: 'London', age: 36, vip: true, note: null },
  tags: ['maths', '50%_off'],
};
const ada = new PersonalData(new PersonalKey('eus_1', randomBytes(32)));

it('sealed fields reveal nothing and open to what they were', () => {
  const sealed = ada.seal(fields);
  for (const canary of ['ada@example.org', 'Ada Lovelace', 'London', '50%_off'])
    expect(JSON.stringify(sealed)).not.toContain(canary);
  expect(ada.open(sealed)).toEqual(fields);
});

it('empty fields are null, and open to what an end user without them has', () => {
  const sealed = ada.seal({ externalId: 'ada', displayName: null, metadata: {}, tags: [] });
  expect(sealed).toMatchObject({ displayName: null, metadata: null, tags: null });
  expect(ada.open(sealed)).toEqual({ externalId: 'ada', displayName: null, metadata: {}, tags: [] });
});

it('only the given fields are sealed', () => {
  expect(Object.keys(ada.seal({ tags: ['a'] }))).toEqual(['tags']);
});

it('a sealed field opens neither as another field, nor of another end user, nor under another key', () => {
  const key = randomBytes(32);
  const sealed = new PersonalData(new PersonalKey('eus_1', key)).seal(fields);
  const moved = { ...sealed, displayName: sealed.externalId };
  expect(() => new PersonalData(new PersonalKey('eus_1', key)).open(moved)).toThrow();
  expect(() => new PersonalData(new PersonalKey('eus_2', key)).open(sealed)).toThrow();
  expect(() => ada.open(sealed)).toThrow();
});
