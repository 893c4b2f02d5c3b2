import { listWithUnique, orNull, pageMembers, text, whole, withDefault } from '@berth/contracts/schema';
import Type from 'typebox';
import { describe, expect, it } from 'vitest';
import { parseIsoTime } from './iso-time.js';
import { Validator, type ValidationResult } from './validator.js';

const inner = Type.Object({ name: text({ max: 3 }) });

const outer = Type.Object({
  limit: withDefault(whole(1, 10), 5),
  one: Type.Optional(orNull(inner)),
  many: Type.Optional(orNull(listWithUnique(inner, 2, 'name'))),
  flag: Type.Optional(Type.Boolean()),
});

const validateBody = (body: unknown): ValidationResult => Validator.for(outer).validateBody(body);
const validateQuery = (query: unknown): ValidationResult => Validator.for(outer).validateQuery(query);

describe('a body', () => {
  it('is copied with its defaults and without members that are not declared', () => {
    const { value, problems } = validateBody({
      one: { name: 'a', x: 1 },
      many: [{ name: 'b', y: 2 }],
      other: 1,
      toString: 'x',
    });
    expect(problems).toEqual([]);
    expect(value).toEqual({ limit: 5, one: { name: 'a' }, many: [{ name: 'b' }] });
    expect(Object.keys(value as object)).not.toContain('toString');
  });

  it('takes no member from a prototype', () => {
    const { problems } = Validator.for(inner).validateBody(Object.create({ name: 'a' }));
    expect(problems.map(({ path }) => path)).toEqual(['name']);
  });

  it('is validated at every depth, with dotted paths', () => {
    const { problems } = validateBody({ limit: '5', one: [], many: [{ name: 'long' }, null] });
    expect(problems.map(({ path }) => path)).toEqual(['limit', 'one', 'many.0.name', 'many.1']);
  });

  it('is not validated inside a list that is too long', () => {
    const { problems } = validateBody({ many: [1, 2, 3] });
    expect(problems).toEqual([{ path: 'many', message: 'must contain at most 2 items' }]);
  });

  it('names the item that repeats another', () => {
    const { problems } = validateBody({ many: [{ name: 'a' }, { name: 'a' }] });
    expect(problems).toEqual([{ path: 'many.1.name', message: 'is given twice' }]);
  });

  it('says what a member must be whose items are validated elsewhere', () => {
    const listed = Type.Object({ list: Type.Unsafe<unknown>({ type: 'array' }) });
    for (const body of [{}, { list: {} }, { list: null }])
      expect(Validator.for(listed).validateBody(body).problems).toEqual([
        { path: 'list', message: 'must be a list' },
      ]);
  });

  it.each([null, [], 'text', 5, true])('%j is not an object', (body) => {
    expect(validateBody(body).problems).toEqual([{ path: '', message: 'The body must be a JSON object.' }]);
  });
});

describe('a query', () => {
  it('has its members converted to their types, and defaults for absent members', () => {
    expect(validateQuery({ limit: '7', flag: 'true' }).value).toEqual({ limit: 7, flag: true });
    expect(Validator.for(Type.Object(pageMembers)).validateQuery({}).value).toEqual({ limit: 50 });
  });

  it.each(['', ' 7', '7.0', '7e0', '0x7', '11', '0', '-1', '99999999999999999999', ['1', '2']])(
    'refuses the number %j',
    (limit) => {
      expect(validateQuery({ limit }).problems.map(({ path }) => path)).toEqual(['limit']);
    },
  );
});

describe('a text', () => {
  const problemOf = (value: unknown): string | undefined =>
    Validator.for(text({ max: 2, maxBytes: 4 })).validate(value).problems[0]?.message;

  it('contains neither NUL nor a lone surrogate, which Postgres cannot store', () => {
    expect(problemOf('\0b')).toBe('must be valid Unicode without NUL characters');
    expect(problemOf('\ud800')).toBe('must be valid Unicode without NUL characters');
  });

  it('has a length in code points and a size in bytes of UTF-8', () => {
    expect(problemOf('😀')).toBeUndefined();
    expect(problemOf('aaa')).toBe('must be 1 to 2 characters long');
    expect(problemOf('😀😀')).toBe('must contain at most 4 bytes of UTF-8');
    expect(problemOf('€€')).toBe('must contain at most 4 bytes of UTF-8');
  });

  it.each([
    ['😀😀', true],
    ['😀😀😀', true],
    ['aaa', true],
    ['😀😀a', true],
    ['😀', false],
    ['a', false],
    ['😀😀😀a', false],
    ['aaaa', false],
  ])('of 2 to 3 characters may be %j: %s', (value, isValid) => {
    expect(Validator.for(text({ min: 2, max: 3 })).validate(value).problems.length === 0).toBe(isValid);
  });

  it('may also be bounded in UTF-16 units', () => {
    const validator = Validator.for(text({ max: 2, maxUnits: 2 }));
    expect(validator.validate('😀').problems).toEqual([]);
    expect(validator.validate('😀a').problems[0]?.message).toBe('must be at most 2 UTF-16 units long');
  });
});

describe('an ISO 8601 time', () => {
  it.each([
    ['2026-01-31', '2026-01-31T00:00:00.000Z'],
    ['2026-01-31T12:00Z', '2026-01-31T12:00:00.000Z'],
    ['2026-01-31T12:00:00.5+02:00', '2026-01-31T10:00:00.500Z'],
    ['2024-02-29T00:00:00Z', '2024-02-29T00:00:00.000Z'],
  ])('%s is %s', (text, iso) => expect(new Date(parseIsoTime(text) ?? Number.NaN).toISOString()).toBe(iso));

  it.each([
    '',
    '2026',
    '2026-02-30',
    '2025-02-29',
    '2026-13-01',
    '2026-01-31T12:00:00',
    '31.01.2026',
    'now',
    5,
    null,
  ])('is not %j', (value) => expect(parseIsoTime(value)).toBeUndefined());
});
