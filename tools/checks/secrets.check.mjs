import { walk } from './workspace.mjs';

const LIST = 'libs/kernel/src/secret-prefixes.ts';
/** Two letters and `_`; ids have three letters. */
const PREFIX = /^[a-z]{2}_$/;

/** Checks that code takes the prefixes of secrets from the list that log redaction uses. */
export const checkSecrets = ({ packages }) => {
  const problems = [];
  let read = 0;
  for (const file of packages.flatMap(({ files }) => files)) {
    if (file.test || file.path === LIST) continue;
    read++;
    walk(file.program, (node) => {
      const prefix = prefixIn(node);
      if (prefix === null) return;
      problems.push(
        `${file.path}:${file.lineAt(node.start)}: '${prefix}' looks like the prefix of a secret: take it from ${LIST}`,
      );
    });
  }
  return { problems, read };
};

/** The prefix in a literal, or in a template before its first expression; null if there is none. */
const prefixIn = (node) => {
  if (node.type === 'Literal' && typeof node.value === 'string')
    return PREFIX.test(node.value) ? node.value : null;
  if (node.type !== 'TemplateLiteral' || node.expressions.length === 0) return null;
  const first = node.quasis[0].value.cooked;
  return PREFIX.test(first) ? first : null;
};
