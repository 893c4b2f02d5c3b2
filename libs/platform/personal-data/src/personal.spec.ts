import { randomBytes } from 'node:crypto';
import { expect, it } from 'vitest';
import { fromPersonal, toPersonal } from './personal.js';
import { PersonalKey } from './personal-key.js';

const ABOUT = 'agent/agt_1';
const data = { name: 'Ada Lovelace', labels: { team: 'blue' } };
const key = new PersonalKey('eus_1', randomBytes(32));

it('data of an end user is sealed: it reveals nothing, and opens with the key only', () => {
  const personal = toPersonal(key, ABOUT, data);
  expect(JSON.stringify(personal)).not.toMatch(/Ada|blue/);
  expect(personal).toMatchObject({ endUserId: 'eus_1' });
  expect(fromPersonal(key, ABOUT, personal)).toEqual(data);
  expect(fromPersonal(null, ABOUT, personal)).toBeNull();
  expect(fromPersonal(undefined, ABOUT, personal)).toBeNull();
});

it('data without an end user stays in plaintext and needs no key', () => {
  const personal = toPersonal(null, ABOUT, data);
  expect(personal).toEqual({ endUserId: null, data });
  expect(fromPersonal(null, ABOUT, personal)).toEqual(data);
});

it('sealed data opens neither elsewhere, nor for another end user, nor under another key', () => {
  const personal = toPersonal(key, ABOUT, data);
  expect(() => fromPersonal(key, 'agent/agt_2', personal)).toThrow();
  expect(() => fromPersonal(new PersonalKey('eus_2', key.bytes), ABOUT, personal)).toThrow();
  expect(() => fromPersonal(new PersonalKey('eus_1', randomBytes(32)), ABOUT, personal)).toThrow();
});
