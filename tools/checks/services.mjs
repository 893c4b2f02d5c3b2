import { formatted } from './formatted.mjs';
import { walk } from './workspace.mjs';

export const SERVICES_SOURCE = 'libs/contracts/src/operations/services.ts';
export const MODULES_SOURCE = 'apps/standalone/src/service-modules.ts';

const GENERATED =
  "// Generated from the services' code by `npm run pages`; the checks fail when it is out of date.";

/** The services that handle a request of the operations interface. */
const servicesWith = (access, query) =>
  Object.entries(access)
    .filter(([name, { handles }]) => handles.includes(`qry.${name}.${query}.v1`))
    .map(([name]) => name);

/** Renders the list of the services that handle the requests of the operations interface. */
export const renderServices = (access) =>
  formatted(
    SERVICES_SOURCE,
    `${GENERATED}

/** Every service that \`/health\` queries. */
export const SERVICES = ${JSON.stringify(servicesWith(access, 'health'))} as const;

/** The services with tables and event consumers: they list projections and dead letters. */
export const SERVICES_WITH_TABLES = ${JSON.stringify(servicesWith(access, 'projections'))} as const;
`,
  );

/** Renders the modules of those services, for the composition. */
export const renderModules = ({ packages }, access) => {
  const modules = servicesWith(access, 'health').map((name) => {
    const one = packages.find(({ dir }) => dir === `apps/${name}`);
    return { from: one.name, name: one.files.map(moduleIn).find((found) => found !== undefined) };
  });
  return formatted(
    MODULES_SOURCE,
    `${GENERATED}
${modules.map(({ from, name }) => `import { ${name} } from '${from}';`).join('\n')}
import type { ServiceModule } from '@berth/service';

/** Every service that \`/health\` queries. */
export const SERVICE_MODULES: readonly ServiceModule[] = [${modules.map(({ name }) => name).join(', ')}];
`,
  );
};

/** The class in a file that calls `PlatformModule.forService`. */
const moduleIn = ({ test, program }) => {
  let found;
  walk(program, (node) => {
    if (test || node.type !== 'ClassDeclaration') return;
    walk(node.decorators ?? [], ({ type, object, property }) => {
      if (type !== 'MemberExpression' || object.name !== 'PlatformModule') return;
      if (property.name === 'forService') found = node.id.name;
    });
  });
  return found;
};
