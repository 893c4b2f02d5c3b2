import type { Scope } from '@berth/contracts/accounts';
import type { FastifyRequest } from 'fastify';
import { holdsScope, missingScope } from '../auth/access.js';
import type { HttpServer, RouteRules } from '../http/fastify-types.js';
import { invalidRequest, type FieldProblem } from '../http/http-refusal.js';
import { fillFromBody, fillFromQuery, isPlainObject } from './dto-validation.js';
import { textProblem } from './text-rule.js';

/** Upper bound of reported problems; a body may have more. */
const MOST_PROBLEMS = 100;

/**
 * Validates path, query and body before the handler runs, which then gets instances of its classes. 400
 * `invalid_request` names every invalid field of all three.
 */
export const addValidationHook = (server: HttpServer): void => {
  server.addHook('preValidation', (request, _reply, done) => {
    const { rules } = request.routeOptions.config;
    try {
      if (rules !== undefined) validate(request, rules);
      done();
    } catch (error) {
      done(error instanceof Error ? error : new Error('validation failed', { cause: error }));
    }
  });
};

const validate = (request: FastifyRequest, rules: RouteRules): void => {
  const body = rules.body?.streamed === true ? undefined : rules.body;
  for (const scope of body?.scopes?.(request.body) ?? []) requireScope(request, scope);
  const problems = [...paramProblems(request.params, rules)];
  if (rules.query !== undefined) {
    const filled = fillFromQuery(rules.query, request.query);
    request.query = filled.dto;
    problems.push(...filled.problems);
  }
  if (body !== undefined) {
    const filled = fillFromBody(body.shape, request.body);
    request.body = filled.dto;
    problems.push(...filled.problems);
  }
  const notAnObject = problems.some(({ path }) => path === '');
  const refusal = notAnObject ? undefined : body?.refusal?.(request.body);
  if (refusal !== undefined) throw refusal;
  if (problems.length > 0) throw invalidRequest(problems.slice(0, MOST_PROBLEMS));
};

const paramProblems = (params: unknown, rules: RouteRules): readonly FieldProblem[] => {
  if (rules.params === undefined || !isPlainObject(params)) return [];
  return Object.entries(rules.params).flatMap(([path, rule]) => {
    const message = textProblem(params[path], rule);
    return message === undefined ? [] : [{ path, message }];
  });
};

const requireScope = (request: FastifyRequest, scope: Scope): void => {
  if (!holdsScope(request.principal, scope)) throw missingScope(scope);
};
