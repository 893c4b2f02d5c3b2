import { walk } from './workspace.mjs';

const MONEY = 'libs/kernel/src/money.ts';
/** What a file imports from the kernel that computes with money. */
const MONEY_IMPORTS = new Set([
  'divideDown',
  'divideHalfUp',
  'divideUp',
  'formatCents',
  'MILLIONTHS_PER_CENT',
  'Millionths',
  'parseCents',
  'showCents',
]);
/** Names of amounts: `outputCents`, `cost_millionths`. */
const AMOUNT = /(cents|millionths)$/i;
const FLOAT_CALLS = new Set(['Number', 'parseFloat', 'parseInt']);
const FLOAT_METHODS = new Set(['toFixed', 'toPrecision']);
const ARITHMETIC = new Set(['+', '-', '*', '/', '%', '**']);
const FLOAT_COLUMN = /\w*(?:cents|millionths)\w*"?\s*(?:::)?\s*(?:real|double precision|float\d*)\b/i;

/**
 * Checks that money is never a float: files that compute with money convert nothing to a number, no amount is an
 * argument of such a conversion or calculated with a literal number anywhere, and no column of money is a float.
 */
export const checkMoney = ({ packages }) => {
  const problems = [];
  let read = 0;
  for (const file of packages.flatMap(({ files }) => files)) {
    if (file.test || file.path === MONEY) continue;
    read++;
    const computes = importsMoney(file.program);
    walk(file.program, (node) => {
      const problem = problemOf(node, computes);
      if (problem !== null) problems.push(`${file.path}:${file.lineAt(node.start)}: ${problem}`);
    });
  }
  return { problems, read };
};

const importsMoney = (program) =>
  program.body.some(
    (node) =>
      node.type === 'ImportDeclaration' &&
      node.source.value === '@berth/kernel' &&
      node.specifiers.some(({ imported }) => MONEY_IMPORTS.has(imported?.name)),
  );

const problemOf = (node, computes) => {
  const conversion = conversionOf(node);
  if (conversion !== null && (computes || node.arguments?.some(isAmount)))
    return `${conversion} where money is computed: amounts are bigint, from parseCents or BigInt`;
  if (node.type === 'BinaryExpression' && ARITHMETIC.has(node.operator) && isFloatArithmetic(node))
    return 'an amount is calculated with a float: amounts are bigint';
  const text = node.type === 'Literal' ? node.value : node.type === 'TemplateElement' ? node.value.raw : null;
  return typeof text === 'string' && FLOAT_COLUMN.test(text)
    ? 'a column of money is a float: use numeric'
    : null;
};

/** `Number(…)`, `Math.round(…)`, `x.toFixed(…)` or `+x`; null for anything else. */
const conversionOf = (node) => {
  if (node.type === 'UnaryExpression' && node.operator === '+') return '+';
  if (node.type !== 'CallExpression') return null;
  const { callee } = node;
  if (callee.type === 'Identifier') return FLOAT_CALLS.has(callee.name) ? `${callee.name}()` : null;
  if (callee.type !== 'MemberExpression' || callee.computed) return null;
  const { name } = callee.property;
  if (callee.object.name === 'Math' || (callee.object.name === 'Number' && FLOAT_CALLS.has(name)))
    return `${callee.object.name}.${name}()`;
  return FLOAT_METHODS.has(name) ? `${name}()` : null;
};

const isAmount = (node) =>
  AMOUNT.test((node.type === 'MemberExpression' ? node.property.name : node.name) ?? '');

const isFloatArithmetic = ({ left, right }) =>
  (isAmount(left) && isNumber(right)) || (isAmount(right) && isNumber(left));

const isNumber = ({ type, value }) => type === 'Literal' && typeof value === 'number';
