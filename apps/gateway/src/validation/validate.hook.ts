import type { Scope } from '@berth/contracts/accounts';
import { asLookUpFailure, Requester } from '@berth/messaging';
import { Injectable } from '@nestjs/common';
import type { FastifyRequest } from 'fastify';
import type { TSchema } from 'typebox';
import { holdsScope, missingScope } from '../auth/access.js';
import { callerOf } from '../auth/caller.js';
import type { HttpServer, JsonBody, RouteRules } from '../http/fastify-types.js';
import { HttpRefusal, invalidRequest, type FieldProblem } from '../http/http-refusal.js';
import { paramsOf, type LookUp } from '../http/resource.js';
import { isPlainObject } from './schema-keywords.js';
import { Validator, type ValidationResult } from './validator.js';

/** Upper bound of reported problems; a body may have more. */
const MAX_PROBLEMS = 100;

/**
 * Validates path, query and body against their schemas before the handler runs. 400 `invalid_request` names every invalid
 * field of all three.
 */
@Injectable()
export class ValidationHook {
  constructor(private readonly requester: Requester) {}

  addTo(server: HttpServer): void {
    server.addHook('onRoute', ({ config }) => {
      for (const schema of schemasOf(config?.rules)) Validator.for(schema);
    });
    server.addHook('preValidation', (request, _reply, done) => {
      const { rules } = request.routeOptions.config;
      try {
        if (rules !== undefined) validate(request, rules);
      } catch (error) {
        return done(error instanceof Error ? error : new Error('validation failed', { cause: error }));
      }
      const read = rules?.body?.kind === 'json' && rules.body.streamed !== true ? rules.body.read : undefined;
      if (read === undefined) return done();
      read(request.body, this.#lookUpsOf(request)).then(
        (body) => {
          request.body = body;
          done();
        },
        (error: Error) => done(error),
      );
    });
  }

  #lookUpsOf(request: FastifyRequest): LookUp {
    return async ({ param, lookUp }) => {
      if (lookUp === undefined) throw new Error(`The resource :${param} cannot be looked up.`);
      try {
        return await lookUp(this.requester, callerOf(request), paramsOf(request));
      } catch (error) {
        throw asLookUpFailure(error);
      }
    };
  }
}

/** The schemas of a route, so that they are compiled before the first request. */
const schemasOf = (rules: RouteRules | undefined): readonly TSchema[] => {
  const { params = {}, query, body } = rules ?? {};
  const shape =
    body?.kind === 'json' && body.streamed !== true && body.read !== undefined ? undefined : body?.shape;
  return [...Object.values(params), query, shape].filter((schema) => schema !== undefined);
};

const validate = (request: FastifyRequest, rules: RouteRules): void => {
  const body = rules.body?.kind === 'json' && rules.body.streamed !== true ? rules.body : undefined;
  for (const scope of body?.scopes?.(request.body) ?? []) requireScope(request, scope);
  const problems = [...paramProblems(request.params, rules)];
  if (rules.query !== undefined) {
    const result = Validator.for(rules.query).validateQuery(request.query);
    request.query = result.value;
    problems.push(...result.problems);
  }
  if (body !== undefined && body.read === undefined) {
    const result = Validator.for(body.shape).validateBody(request.body);
    request.body = result.value;
    problems.push(...result.problems, ...(body.problems?.(result.value) ?? []));
    throwOwnError(body, result);
  }
  if (problems.length > 0) throw invalidRequest(problems.slice(0, MAX_PROBLEMS));
};

/** Errors with the route's own codes come before all others. */
const throwOwnError = ({ codes = {}, refusal }: JsonBody, { value, problems }: ValidationResult): void => {
  for (const [path, code] of Object.entries(codes)) {
    const problem = problems.find((one) => one.path === path);
    if (problem === undefined) continue;
    const { message } = problem;
    throw new HttpRefusal(400, code, `${path} ${message}.`, { fields: [{ path, message }] });
  }
  const isObject = problems.every(({ path }) => path !== '');
  const refused = isObject ? refusal?.(value) : undefined;
  if (refused !== undefined) throw refused;
};

const paramProblems = (params: unknown, rules: RouteRules): readonly FieldProblem[] => {
  if (rules.params === undefined || !isPlainObject(params)) return [];
  return Object.entries(rules.params).flatMap(
    ([path, schema]) => Validator.for(schema).validate(params[path], path).problems,
  );
};

const requireScope = (request: FastifyRequest, scope: Scope): void => {
  if (!holdsScope(request.principal, scope)) throw missingScope(scope);
};
