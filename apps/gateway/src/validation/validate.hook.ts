import type { Scope } from '@berth/contracts/accounts';
import type { FastifyRequest } from 'fastify';
import { missingScope } from '../auth/authenticate.hook.js';
import type { HttpServer, RouteRules } from '../http/fastify-types.js';
import { invalidRequest, type FieldProblem } from '../http/http-refusal.js';
import { fillFromBody, fillFromQuery, isPlainObject } from './dto-validation.js';
import { textProblem } from './text-rule.js';

/** As many problems as anybody reads; a body may hold more. */
const MOST_PROBLEMS = 100;

/**
 * Paths, queries and bodies are checked before any handler runs, so that handlers see instances of their classes only.
 * 400 `invalid_request` names everything that is wrong with all three.
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
  for (const scope of rules.bodyScopes?.(request.body) ?? []) requireScope(request, scope);
  const problems = [...paramProblems(request.params, rules)];
  if (rules.query !== undefined) {
    const filled = fillFromQuery(rules.query, request.query);
    request.query = filled.dto;
    problems.push(...filled.problems);
  }
  if (rules.body !== undefined && rules.body !== 'stream') {
    const filled = fillFromBody(rules.body, request.body);
    request.body = filled.dto;
    problems.push(...filled.problems);
  }
  const notAnObject = problems.some(({ path }) => path === '');
  const refusal = notAnObject ? undefined : rules.bodyRefusal?.(request.body);
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
  if (request.principal?.scopes.includes(scope) !== true) throw missingScope(scope);
};
