import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { ValidateBy } from 'class-validator';
import type { FieldProblem } from '../http/http-refusal.js';
import { fill, isPlainObject, type DtoClass } from './dto-validation.js';
import { parseIsoTime } from './iso-time.js';
import type { NestedRule } from './nested-rules.js';
import { textProblem, type TextRule } from './text-rule.js';
import { textSchema } from './text-schema.js';

/** A string within bounds, with their OpenAPI description; an `ApiProperty` above it adds to that. */
export const IsText = (rule: TextRule): PropertyDecorator =>
  applyDecorators(
    ApiProperty(textSchema(rule)),
    ValidateBy({
      name: 'isText',
      validator: {
        validate: (value) => textProblem(value, rule) === undefined,
        defaultMessage: (args) => textProblem(args?.value, rule) ?? '',
      },
    }),
  );

/** A member that `problem` validates; it returns the problem, or undefined if valid. */
export const Obeys = (name: string, problem: (value: unknown) => string | undefined): PropertyDecorator =>
  ValidateBy({
    name,
    validator: {
      validate: (value) => problem(value) === undefined,
      defaultMessage: (args) => problem(args?.value) ?? '',
    },
  });

/** A number in bounds; `integer` asks for a whole one. No text is taken for a number. */
export const IsWithin = (
  min: number,
  max: number,
  kind: 'integer' | 'number' = 'integer',
): PropertyDecorator =>
  Obeys('isWithin', (value) => {
    const fits = typeof value === 'number' && value >= min && value <= max;
    if (fits && (kind === 'number' || Number.isInteger(value))) return undefined;
    return `must be ${kind === 'integer' ? 'a whole number' : 'a number'} from ${min} to ${max}`;
  });

/** The rules of `type` for an object member. */
export const objectOf =
  (type: DtoClass): NestedRule =>
  (value, path) => {
    if (!isPlainObject(value)) return { value, problems: [{ path, message: 'must be an object' }] };
    const { dto, problems } = fill(type, value, `${path}.`);
    return { value: dto, problems };
  };

/** The rules of `type` for each item of a list of at most `max`. */
export const listOf =
  (type: DtoClass, max: number): NestedRule =>
  (value, path) => {
    if (!Array.isArray(value)) return { value, problems: [{ path, message: 'must be a list' }] };
    if (value.length > max) return { value, problems: [{ path, message: `must hold at most ${max} items` }] };
    const items = value.map((item: unknown, index) => objectOf(type)(item, `${path}.${index}`));
    return { value: items.map((item) => item.value), problems: items.flatMap((item) => item.problems) };
  };

/** An object of texts, with at most `max` members. */
export const textsByKey =
  (max: number, keyRule: TextRule, valueRule: TextRule): NestedRule =>
  (value, path) => {
    if (!isPlainObject(value))
      return { value, problems: [{ path, message: 'must be an object of strings' }] };
    const entries = Object.entries(value);
    if (entries.length > max)
      return { value, problems: [{ path, message: `must hold at most ${max} members` }] };
    const problems = entries.flatMap(([key, text]): FieldProblem[] => {
      const wrongKey = textProblem(key, keyRule);
      const wrong = wrongKey === undefined ? textProblem(text, valueRule) : `the name ${wrongKey}`;
      return wrong === undefined ? [] : [{ path: `${path}.${key.slice(0, 128)}`, message: wrong }];
    });
    return { value, problems };
  };

/** An ISO 8601 time with a zone, or a date. */
export const IsIsoTime = (): PropertyDecorator =>
  Obeys('isIsoTime', (value) =>
    parseIsoTime(value) === undefined
      ? 'must be an ISO 8601 time such as 2026-01-31T12:00:00.000Z'
      : undefined,
  );
