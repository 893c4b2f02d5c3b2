import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { formatted } from './formatted.mjs';

export const ERRORS_PAGE = 'docs/errors.md';
const GATEWAY = 'apps/gateway/dist';
const METHODS = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH'];

/** Renders the page of all error codes from the built gateway: its routes and the registries of the contracts. */
export const renderErrors = async ({ root }) => {
  const load = (path) => import(pathToFileURL(join(root, GATEWAY, path)).href);
  const { GatewayModule } = await load('gateway.module.js');
  const { ERROR_CODES, describeErrorCode } = await load('errors/error-codes.js');
  const { ERROR_CODES_OF_ROUTE } = await load('http/route.decorator.js');
  const routesOf = new Map(ERROR_CODES.map((code) => [code, []]));
  const routes = routesIn(GatewayModule, ERROR_CODES_OF_ROUTE);
  for (const { route, codes } of routes) for (const code of codes) routesOf.get(code).push(route);
  const rows = ERROR_CODES.map((code) => {
    const { kind, status, when } = describeErrorCode(code);
    return `| \`${code}\` | ${kind ?? ''} | ${status} | ${when} | ${routeList(routesOf.get(code), routes)} |\n`;
  });
  return formatted(ERRORS_PAGE, `${HEAD}${rows.join('')}`);
};

const HEAD = `# Errors

Generated from the declarations of the routes and of the contracts by \`node tools/checks/errors.mjs --write\`; \`npm test\`
fails when it is out of date.

Every error is \`{"detail": {"code", "message", …}}\`. [api.md](api.md#errors) describes the conventions. Services use the
kind among themselves; the gateway maps it to the status.

| Code | Kind | Status | When | Routes |
| --- | --- | --- | --- | --- |
`;

/** Most codes belong to a few routes; longer lists are summarized. */
const MAX_ROUTES = 8;

const routeList = (routes, all) => {
  if (routes.length === all.length) return 'all';
  if (routes.length > MAX_ROUTES) return `${routes.length} routes ${commonPart(routes)}`;
  return routes.map((route) => `\`${route}\``).join(', ');
};

/** The path prefix and the method that all of them share. */
const commonPart = (routes) => {
  const [methods, paths] = [0, 1].map((index) => routes.map((route) => route.split(' ')[index]));
  const segments = paths.map((path) => path.split('/'));
  const shared = segments[0].filter((segment, index) => segments.every((one) => one[index] === segment));
  const where = shared.length > 1 ? `at or below \`${shared.join('/')}\`` : '';
  return new Set(methods).size === 1 ? `(every ${methods[0]} ${where}`.trim() + ')' : where;
};

/** Every handler with a declaration, from the controllers of a module and of the modules that it imports. */
const routesIn = (module, key, seen = new Set()) => {
  if (seen.has(module) || typeof module !== 'function') return [];
  seen.add(module);
  const controllers = Reflect.getMetadata('controllers', module) ?? [];
  const imports = Reflect.getMetadata('imports', module) ?? [];
  return [
    ...controllers.flatMap((controller) => handlersOf(controller, key)),
    ...imports.flatMap((imported) => routesIn(imported, key, seen)),
  ];
};

const handlersOf = (controller, key) => {
  const base = Reflect.getMetadata('path', controller);
  return Object.getOwnPropertyNames(controller.prototype).flatMap((name) => {
    const handler = controller.prototype[name];
    const codes = typeof handler === 'function' ? Reflect.getMetadata(key, handler) : undefined;
    if (codes === undefined) return [];
    const path = [base, Reflect.getMetadata('path', handler)].join('/').split('/').filter(Boolean).join('/');
    const route = `${METHODS[Reflect.getMetadata('method', handler)]} /${path.replaceAll(/:(\w+)/g, '{$1}')}`;
    return [{ route, codes: [...new Set(codes)] }];
  });
};

/** Checks that the page is up to date. */
export const checkErrors = async (workspace) => {
  const { root } = workspace;
  if (!existsSync(join(root, GATEWAY)))
    return { problems: ['the gateway is not built: run npx tsc -b'], read: 1 };
  const text = await renderErrors(workspace);
  const path = join(root, ERRORS_PAGE);
  const isCurrent = existsSync(path) && readFileSync(path, 'utf8') === text;
  return {
    problems: isCurrent ? [] : [`${ERRORS_PAGE} is out of date: run node tools/checks/errors.mjs --write`],
    read: text.split('\n').length,
  };
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  if (process.argv.includes('--write')) writeFileSync(join(root, ERRORS_PAGE), await renderErrors({ root }));
  else process.stdout.write(await renderErrors({ root }));
}
