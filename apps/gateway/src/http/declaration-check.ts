import { QUERY_TOKEN_KINDS } from '../auth/credentials.js';
import type { HttpServer, RouteRules } from './fastify-types.js';

/** Fails the start if a route does not declare who may call it or what each parameter of its path identifies. */
export const addDeclarationCheck = (server: HttpServer): void => {
  server.addHook('onRoute', ({ method, path, config }) => {
    const problem = declarationProblem(path, config?.rules);
    if (problem !== undefined) throw new Error(`The route ${String(method)} ${path} ${problem}.`);
  });
};

/** The first defect in the declaration of a route at `path`, for an error message; undefined if there is none. */
export const declarationProblem = (path: string, rules: RouteRules | undefined): string | undefined => {
  if (rules === undefined) return 'has no @Route declaration';
  const { accepts, resources, params = {}, tokenInQuery = false } = rules;
  if (accepts !== 'anyone' && Object.values(accepts).every((needed) => needed === undefined))
    return 'accepts no credential';
  if (
    tokenInQuery &&
    (accepts === 'anyone' || !QUERY_TOKEN_KINDS.some((kind) => accepts[kind] !== undefined))
  )
    return 'allows ?token= but accepts no kind of token';
  const named = new Set([...resources.map(({ param }) => param), ...Object.keys(params)]);
  const inPath = path.split('/').flatMap((segment) => (segment.startsWith(':') ? [segment.slice(1)] : []));
  const unnamed = inPath.find((param) => !named.has(param));
  if (unnamed !== undefined) return `does not declare what :${unnamed} identifies`;
  const absent = [...named].find((param) => !inPath.includes(param));
  return absent === undefined ? undefined : `declares :${absent}, which its path does not have`;
};
