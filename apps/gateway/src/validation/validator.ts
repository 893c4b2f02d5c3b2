import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Format } from 'typebox/format';
import type { FieldProblem } from '../http/http-refusal.js';
import { declaredPartBy } from './declared-part.js';
import { fieldProblems } from './field-problems.js';
import { parseIsoTime } from './iso-time.js';
import { convertedQuery } from './query-text.js';
import { isPlainObject } from './schema-keywords.js';

// TypeBox validates by RFC 3339, which allows neither a date alone nor a time without seconds.
Format.Set('date-time', (value) => parseIsoTime(value) !== undefined);

/** The validated value and its problems. The value is valid only if there are no problems. */
export interface ValidationResult {
  readonly value: unknown;
  readonly problems: readonly FieldProblem[];
}

/** Validates values against one schema, which is compiled once. */
export class Validator {
  static readonly #known = new WeakMap<TSchema, Validator>();
  readonly #accepts: (value: unknown) => boolean;
  readonly #declaredPart: (value: unknown) => unknown;

  private constructor(private readonly schema: TSchema) {
    const compiled = Compile(schema);
    this.#accepts = (value) => compiled.Check(value);
    this.#declaredPart = declaredPartBy(schema);
  }

  /** The validator of `schema`, compiled on the first call. */
  static for(schema: TSchema): Validator {
    const known = this.#known.get(schema);
    if (known !== undefined) return known;
    const validator = new Validator(schema);
    this.#known.set(schema, validator);
    return validator;
  }

  /** A JSON body. Members that are not declared are left out, values keep their types, no body counts as `{}`. */
  validateBody(body: unknown): ValidationResult {
    const given = body === undefined ? {} : body;
    if (isPlainObject(given)) return this.validate(this.#declaredPart(given));
    return { value: {}, problems: [{ path: '', message: 'The body must be a JSON object.' }] };
  }

  /** A parsed query string, whose members are converted to the declared types. */
  validateQuery(query: unknown): ValidationResult {
    return this.validate(this.#declaredPart(convertedQuery(this.schema, query)));
  }

  /** Validates a value without converting it; paths of problems begin with `path`. */
  validate(value: unknown, path = ''): ValidationResult {
    return { value, problems: this.#accepts(value) ? [] : this.#explain(value, path) };
  }

  #explain(value: unknown, path: string): readonly FieldProblem[] {
    const problems = fieldProblems(this.schema, value, path);
    return problems.length > 0 ? problems : [{ path, message: 'is not valid' }];
  }
}
