import { join } from 'node:path';
import { format, resolveConfig } from 'prettier';

export const SERVICES_SOURCE = 'libs/contracts/src/operations/services.ts';

/** Renders the list of the services that handle the requests of the operations interface. */
export const renderServices = async (root, access) => {
  const options = await resolveConfig(join(root, SERVICES_SOURCE));
  const servicesWith = (query) =>
    Object.entries(access)
      .filter(([name, { handles }]) => handles.includes(`qry.${name}.${query}.v1`))
      .map(([name]) => name);
  return format(
    `// Generated from the services' code by \`npm run pages\`; the checks fail when it is out of date.

/** Every service that \`/health\` queries. */
export const SERVICES = ${JSON.stringify(servicesWith('health'))} as const;

/** The services with tables and event consumers: they list projections and dead letters. */
export const SERVICES_WITH_TABLES = ${JSON.stringify(servicesWith('projections'))} as const;
`,
    { ...options, parser: 'typescript' },
  );
};
