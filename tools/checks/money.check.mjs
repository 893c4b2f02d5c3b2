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
/** Who imports one of these calculates prices: amounts are all over its package. */
const PRICING_IMPORTS = new Set(['divideDown', 'divideHalfUp', 'divideUp']);
/** Names of amounts: `outputCents`, `cost_millionths`, `monthPrice`. */
const AMOUNT = /(?:cents|millionths|cost|balance|price|amount)$/i;
/** Names of amounts in a package that calculates prices. */
const OWN_AMOUNT = /^(?:ai|hosting|metered|reserved|settled|share|spent)$/;
const FLOAT_CALLS = new Set(['Number', 'parseFloat', 'parseInt']);
const FLOAT_METHODS = new Set(['toFixed', 'toPrecision']);
/** Conversions that have no use but to handle fractions as floats. */
const FRACTIONS = /^(?:Number\.)?(?:parseFloat|toFixed|toPrecision)\(\)$/;
const ARITHMETIC = new Set(['+', '-', '*', '/', '%', '**']);
const FLOAT_TYPE = String.raw`(?:real|double precision|float\d*)\b`;
const FLOAT_COLUMN = new RegExp(
  String.raw`\w*(?:cents|millionths|cost|balance|price|amount)\w*"?\)*\s*(?:(?:::|\bAS)\s*)?${FLOAT_TYPE}`,
  'i',
);
const FLOAT_ANYWHERE = new RegExp(String.raw`(?:\w"?|::)\s*${FLOAT_TYPE}`, 'i');

/**
 * Checks that money is never a float: files that compute with money convert nothing to a number, no amount is part of
 * such a conversion or calculated with a literal number anywhere, and no column of money is a float. A package that
 * calculates prices has no float column, cast or fraction at all.
 */
export const checkMoney = ({ packages, tools }) => {
  const places = [...packages.map(({ files }) => files), tools].map((files) =>
    files.filter(({ path, test }) => !test && path !== MONEY),
  );
  const problems = places.flatMap((files) => {
    const prices = files.some(({ program }) => imports(program, PRICING_IMPORTS));
    return files.flatMap((file) => problemsOf(file, prices));
  });
  return { problems, read: places.flat().length };
};

const problemsOf = ({ path, program, lineAt }, prices) => {
  const context = { computes: imports(program, MONEY_IMPORTS), prices };
  const problems = [];
  walk(program, (node) => {
    const problem = problemOf(node, context);
    if (problem !== null) problems.push(`${path}:${lineAt(node.start)}: ${problem}`);
  });
  return problems;
};

const imports = (program, names) =>
  program.body.some(
    (node) =>
      node.type === 'ImportDeclaration' &&
      node.source.value === '@berth/kernel' &&
      node.specifiers.some(({ imported }) => names.has(imported?.name)),
  );

const problemOf = (node, { computes, prices }) => {
  const conversion = conversionOf(node);
  if (conversion !== null && (computes || (prices && FRACTIONS.test(conversion)) || hasAmount(node, prices)))
    return `${conversion} where money is computed: amounts are bigint, from parseCents or BigInt`;
  if (node.type === 'BinaryExpression' && ARITHMETIC.has(node.operator) && isFloatArithmetic(node, prices))
    return 'an amount is calculated with a float: amounts are bigint';
  const text = node.type === 'Literal' ? node.value : node.type === 'TemplateElement' ? node.value.raw : null;
  return typeof text === 'string' && (prices ? FLOAT_ANYWHERE : FLOAT_COLUMN).test(text)
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

/** Whether the argument of a conversion, or what its method is called on, names an amount. */
const hasAmount = (node, prices) => {
  let found = false;
  for (const part of [...(node.arguments ?? [node.argument]), node.callee?.object])
    if (part !== undefined) walk(part, (inner) => (found ||= isAmount(inner, prices)));
  return found;
};

const isAmount = (node, prices) => {
  const name = nameOf(node);
  return typeof name === 'string' && (AMOUNT.test(name) || (prices && OWN_AMOUNT.test(name)));
};

/** Of `cost`, `row.cost` and `row['cost']`. */
const nameOf = ({ type, name, property }) =>
  type === 'Identifier' ? name : type === 'MemberExpression' ? (property.name ?? property.value) : undefined;

const isFloatArithmetic = ({ left, right }, prices) =>
  (isAmount(left, prices) && isNumber(right)) || (isAmount(right, prices) && isNumber(left));

const isNumber = ({ type, value }) => type === 'Literal' && typeof value === 'number';
