import type { TSchema } from 'typebox';
import { Compile } from 'typebox/compile';
import { Format } from 'typebox/format';
import type { FieldProblem } from '../http/http-refusal.js';
import { declaredPartBy } from './declared-part.js';
import { fieldProblems } from './field-problems.js';
import { parseIsoTime } from './iso-time.js';
import { convertedQuery } from './query-text.js';
import { isPlainObject } from './schema-keywords.js';

// RFC 3339, by which TypeBox judges, has neither a date alone nor a time without seconds.
Format.Set('date-time', (value) => parseIsoTime(value) !== undefined);

/** What a request holds by its schema, and its problems; valid only if there are none. */
export interface Judged {
  readonly value: unknown;
  readonly problems: readonly FieldProblem[];
}

/** Judges values by one schema, which is compiled once. */
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
  judgeBody(body: unknown): Judged {
    const given = body === undefined ? {} : body;
    if (isPlainObject(given)) return this.judge(this.#declaredPart(given));
    return { value: {}, problems: [{ path: '', message: 'The body must be a JSON object.' }] };
  }

  /** A parsed query string, whose members are converted to the declared types. */
  judgeQuery(query: unknown): Judged {
    return this.judge(this.#declaredPart(convertedQuery(this.schema, query)));
  }

  /** A value as it is; paths of problems begin with `path`. */
  judge(value: unknown, path = ''): Judged {
    return { value, problems: this.#accepts(value) ? [] : this.#explain(value, path) };
  }

  #explain(value: unknown, path: string): readonly FieldProblem[] {
    const problems = fieldProblems(this.schema, value, path);
    return problems.length > 0 ? problems : [{ path, message: 'is not valid' }];
  }
}
