import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { formatted } from './formatted.mjs';

export const OPERATOR_SCHEMA = 'docs/berth.schema.json';
const SOURCE = 'libs/platform/operator-file/dist/operator-file.schema.js';

/** Renders the JSON Schema of the operator's file, which editors read, from the schema that services check it with. */
export const renderOperatorSchema = async ({ root }) => {
  const { operatorFileSchema } = await import(pathToFileURL(join(root, SOURCE)).href);
  const schema = {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'berth.yaml',
    ...JSON.parse(JSON.stringify(operatorFileSchema)),
  };
  return formatted(OPERATOR_SCHEMA, JSON.stringify(schema));
};

/** Checks that the schema is up to date. */
export const checkOperatorSchema = async (workspace) => {
  const { root } = workspace;
  if (!existsSync(join(root, SOURCE)))
    return { problems: ['the operator file is not built: run npx tsc -b'], read: 1 };
  const text = await renderOperatorSchema(workspace);
  const path = join(root, OPERATOR_SCHEMA);
  const isCurrent = existsSync(path) && readFileSync(path, 'utf8') === text;
  return {
    problems: isCurrent ? [] : [`${OPERATOR_SCHEMA} is out of date: run npm run pages`],
    read: text.split('\n').length,
  };
};

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  if (process.argv.includes('--write'))
    writeFileSync(join(root, OPERATOR_SCHEMA), await renderOperatorSchema({ root }));
  else process.stdout.write(await renderOperatorSchema({ root }));
}
