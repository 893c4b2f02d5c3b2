import { readFileSync } from 'node:fs';
import { format } from 'oxfmt';

const OPTIONS = JSON.parse(readFileSync(new URL('../../.oxfmtrc.json', import.meta.url), 'utf8'));
delete OPTIONS.$schema;
delete OPTIONS.ignorePatterns;

/** Text as `npm run format` would write it to this path. Throws if it does not parse. */
export const formatted = async (path, text) => {
  const { code, errors } = await format(path, text, OPTIONS);
  if (errors.length > 0) throw new Error(`${path}: ${errors.map(({ message }) => message).join('; ')}`);
  return code;
};
